import { boxWords, faultWords } from '../../core/bytes/boxWords.ts'
import { equalBytes } from '../../core/bytes/bytes.ts'
import { canonicalJson } from '../../core/bytes/canonicalJson.ts'
import { decodeInventory, type Inventory } from '../../core/inventory/inventory.ts'
import type { Answer } from '../../core/wire/messages.ts'
import type { Clock } from '../../ports/clock.ts'
import { TouchstoneError } from '../../ports/errors.ts'
import type { Randomness } from '../../ports/randomness.ts'
import type { ProverEnd } from '../../ports/remoteBox.ts'
import { fault } from '../shared/faults.ts'
import type { ProverSession } from './proverSession.ts'

/** A prover on the line, and what the validator talks to it with. */
export interface Line {
  readonly session: ProverSession
  readonly clock: Clock
  readonly randomness: Randomness
  readonly signal: AbortSignal
}

export interface Greeting {
  readonly proverKey: Uint8Array
  /** Claims. */
  readonly inventory: Inventory
  /**
   * Shortest of a few round trips, by our clock: a box can make it longer, never shorter. It says how long passes must be
   * (§7); nothing is ever subtracted from a time (attack 32).
   */
  readonly roundTripSeconds: number
}

/** The round trip as a certificate tells it. */
export const roundTripUs = ({ roundTripSeconds }: Greeting): number => Math.round(1e6 * roundTripSeconds)

/** Says hello, hears the prover's key, and its inventory once `takeKey` has no objection; measures the round trip. */
export async function greetProver(
  line: Line,
  takeKey: (key: Uint8Array) => Promise<void> | undefined = async () => {},
): Promise<Greeting> {
  const { session } = line
  await session.send({ type: 'hello' })
  const { key: proverKey } = await expectBeforeStart(line, 'welcome')
  await takeKey(proverKey)
  await session.send({ type: 'list' })
  const { inventory } = await expectBeforeStart(line, 'inventory')
  return { proverKey, inventory: readInventory(inventory), roundTripSeconds: await measureRoundTrip(line) }
}

async function measureRoundTrip(line: Line): Promise<number> {
  const { session, clock, randomness } = line
  let shortest = Number.POSITIVE_INFINITY
  for (let i = 0; i < 3; i++) {
    const token = randomness.bytes(8)
    const sentUs = await session.send({ type: 'ping', token })
    const pong = await expectBeforeStart(line, 'pong')
    if (equalBytes(pong.token, token)) shortest = Math.min(shortest, (clock.monotonicUs() - sentUs) / 1e6)
  }
  return Math.min(shortest, 10)
}

/** What is left of the box, or null: the prover has gone, has become another, or has not become smaller. */
export async function greetLeft(before: Greeting, line: Line): Promise<Greeting | null> {
  try {
    const left = await greetProver(line)
    const same = isLeftOf(left.inventory, before.inventory) && equalBytes(left.proverKey, before.proverKey)
    if (!same) return null
    line.session.forgetTelemetry() // the devices have other numbers now
    return left
  } catch (error) {
    if (error instanceof TouchstoneError) return null
    throw error
  }
}

/** Some of the devices, each as it was: who has seen the question must not say that it can do less (attack 66). */
function isLeftOf(left: Inventory, before: Inventory): boolean {
  const known = new Set(before.devices.map((device) => canonicalJson(device)))
  return left.devices.length < before.devices.length && left.devices.every((device) => known.has(canonicalJson(device)))
}

function readInventory(bytes: Uint8Array): Inventory {
  try {
    return decodeInventory(bytes)
  } catch (cause) {
    throw fault('BAD_INVENTORY', { why: cause instanceof Error ? cause.message : 'unreadable' }, cause)
  }
}

/** How long a prover may take over things that are not timed. */
export const HANDSHAKE_US = 60_000_000

/** Before the clock runs a prover that cannot is a fault, not a cheat. */
export async function expectBeforeStart<T extends Answer['type']>(
  { session, clock, signal }: Line,
  type: T,
): Promise<Extract<Answer, { type: T }>> {
  const event = await session.next(clock.monotonicUs() + HANDSHAKE_US, signal)
  if (event.kind === 'answer' && event.answer.type === type) return event.answer as Extract<Answer, { type: T }>
  if (event.kind === 'answer' && event.answer.type === 'fault') throw proverFault(event.answer)
  if (event.kind === 'ended') throw endedEarly(await session.end(), type)
  throw notReady('PROVER_NOT_READY', SAID[event.kind], type)
}

const SAID = {
  answer: 'sent another message',
  malformed: 'sent bytes that are not a message',
  timeout: 'said nothing for 60 s',
} as const

/** What a prover said when it could not go on: its own words, printable and short. */
export interface ProverFault {
  readonly code: string
  readonly text: string
}

/** The prover's own account of why it cannot, before anything counts. */
export const proverFault = ({ code, text }: ProverFault): TouchstoneError =>
  fault('PROVER_FAULT', { prover: code, said: text, words: faultWords({ code, text }) })

/** The account in a fault that `proverFault` made. */
export const saidIn = (error: TouchstoneError): ProverFault | null =>
  fault.is(error, 'PROVER_FAULT') ? { code: String(error.detail.prover), text: String(error.detail.said) } : null

/** A prover that could not even say why: what is left is its exit code and its last words, both the box's. */
function endedEarly(end: ProverEnd | null, expected: string): TouchstoneError {
  // Nobody can tell a box that cut the line from a network that did.
  if (end?.lost) return fault('BOX_CONNECTION_LOST', { expected })
  // Before it has said what there is, it is the release that does not run, there or nowhere.
  const hasStarted = expected !== 'welcome' && expected !== 'inventory'
  const code = hasStarted ? 'PROVER_NOT_READY' : 'PROVER_DID_NOT_START'
  return notReady(code, `ended${howItEnded(end?.code ?? null)}`, expected, end?.said)
}

function howItEnded(code: number | null): string {
  if (code === null) return ''
  return code > 128 ? ` by signal ${code - 128}` : ` with exit code ${code}`
}

function notReady(code: 'PROVER_NOT_READY' | 'PROVER_DID_NOT_START', what: string, expected: string, said = '') {
  const words = said === '' ? '' : `; its last words: ${boxWords(said)}`
  const mend =
    said === ''
      ? 'Check that the box runs this release and is not overloaded, then run again.'
      : 'Fix what it reports on the box, then run again.'
  return fault(code, { what, expected, said, words, mend })
}
