import { equalBytes } from '../../core/bytes/bytes.ts'
import { decodeInventory, type Inventory } from '../../core/inventory/inventory.ts'
import type { Clock } from '../../ports/clock.ts'
import type { Randomness } from '../../ports/randomness.ts'
import { fault } from '../shared/faults.ts'
import { expectBeforeStart } from './conductRun.ts'
import type { ProverSession } from './proverSession.ts'

export interface Greeting {
  readonly proverKey: Uint8Array
  /** Claims. */
  readonly inventory: Inventory
  /** Shortest of a few round trips, which say how long passes must be (§7): nothing is ever subtracted from a time (attack 32). */
  readonly roundTripSeconds: number
}

/** The round trip as a certificate tells it. */
export const roundTripUs = ({ roundTripSeconds }: Greeting): number => Math.round(1e6 * roundTripSeconds)

/** Says hello, hears the prover's key and inventory, and measures the round trip. */
export async function greetProver(
  session: ProverSession,
  clock: Clock,
  randomness: Randomness,
  signal: AbortSignal,
): Promise<Greeting> {
  await session.send({ type: 'hello' })
  const welcome = await expectBeforeStart(session, 'welcome', clock, signal)
  const inventory = readInventory(welcome.inventory)
  let shortest = Number.POSITIVE_INFINITY
  for (let i = 0; i < 3; i++) {
    const token = randomness.bytes(8)
    const sentUs = await session.send({ type: 'ping', token })
    const pong = await expectBeforeStart(session, 'pong', clock, signal)
    if (equalBytes(pong.token, token)) shortest = Math.min(shortest, (clock.monotonicUs() - sentUs) / 1e6)
  }
  return { proverKey: welcome.key, inventory, roundTripSeconds: Math.min(shortest, 10) }
}

function readInventory(bytes: Uint8Array): Inventory {
  try {
    return decodeInventory(bytes)
  } catch (cause) {
    throw fault('BAD_INVENTORY', { why: cause instanceof Error ? cause.message : 'unreadable' }, cause)
  }
}
