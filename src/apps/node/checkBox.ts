import { equalBytes } from '../../core/bytes/bytes.ts'
import { canonicalJson } from '../../core/bytes/canonicalJson.ts'
import { toHex } from '../../core/bytes/hex.ts'
import { sha256 } from '../../core/bytes/sha256.ts'
import type { AccountKeys } from '../../core/chain/accountKeys.ts'
import { be256 } from '../../core/chain/bigEndian.ts'
import { isInTree, resultLeaf } from '../../core/chain/drilling/resultTree.ts'
import { runMessage } from '../../core/chain/transactions/boxes.ts'
import {
  type BoxQuestion,
  BUSY,
  checkMessage,
  decodeOpened,
  encodeBoxQuestion,
  MOST_OPENED,
} from '../../core/chain/wire/boxQuestions.ts'
import { operationsOf } from '../../core/work/drilled/productTask.ts'
import type { Clock } from '../../ports/clock.ts'
import type { Network } from '../../ports/network.ts'
import type { Randomness } from '../../ports/randomness.ts'
import { CHECK_K, DEEPEST_CHECK, SHALLOWEST_CHECK } from './checkSizes.ts'

const MOST_BYTES = 64 * 1_024
const TIMEOUT_MS = 9_000
/** A product that takes less is followed by a larger one: the way to the box would count for too much of it. */
const LONG_ENOUGH_US = 300_000
/** Twice as deep by two: four times the work. */
const DEEPER = 2
/** How often, and after how long, a box is asked again that serves another validator. */
const MOST_TRIES = 8
const BUSY_MS = 300
const NEVER = new AbortController().signal

export interface CheckDeps {
  readonly network: Pick<Network, 'request'>
  readonly clock: Clock
  readonly randomness: Randomness
  readonly keys: AccountKeys
  readonly genesisHash: Uint8Array
  readonly checkSignature: (signature: Uint8Array, message: Uint8Array, key: Uint8Array) => boolean
  /** The right chunk at a place of a product. */
  chunkAt(seed: Uint8Array, k: number, index: number): Uint8Array
}

export interface CheckOrder {
  readonly peer: string
  readonly box: Uint8Array
  readonly epoch: bigint
  readonly vrfProof: Uint8Array
}

/** What a box showed: how fast it is, and the record of it, whose hash it signed. */
export interface CheckedBox {
  readonly operationsPerSecond: number
  readonly record: string
  readonly certificate: Uint8Array
  readonly boxSig: Uint8Array
}

/**
 * Checks one box (§4.5): products that nobody knew before, by our clock, opened where we draw. Null: it showed nothing.
 * Busy: another validator was served all the while.
 */
export async function checkBox(deps: CheckDeps, order: CheckOrder): Promise<CheckedBox | 'busy' | null> {
  const { keys, genesisHash } = deps
  const { box, epoch } = order
  let shown: Shown | 'busy' | null = null
  for (let depth = SHALLOWEST_CHECK; depth <= DEEPEST_CHECK; depth += DEEPER) {
    shown = await timedProduct(deps, order, depth)
    if (shown === null || shown === 'busy' || shown.elapsedUs >= LONG_ENOUGH_US) break
  }
  if (shown === null || shown === 'busy') return shown
  const validator = keys.signer.publicKey
  const record = canonicalJson({
    ...{ format: 'touchstone-check-1', chain: toHex(genesisHash), epoch: String(epoch), validator: toHex(validator) },
    ...{ box: toHex(box), seed: toHex(shown.seed), k: CHECK_K, depth: shown.depth, root: toHex(shown.root) },
    ...{ opened: shown.indices, elapsedUs: Math.round(shown.elapsedUs) },
  })
  const certificate = sha256(new TextEncoder().encode(record))
  const boxSig = await ask(deps, order.peer, { kind: 'witness', box, epoch, validator, certificate })
  if (boxSig?.length !== 64 || !deps.checkSignature(boxSig, runMessage(epoch, validator, certificate), box)) return null
  const operationsPerSecond = (Number(operationsOf(CHECK_K, shown.depth)) * 1e6) / shown.elapsedUs
  return { operationsPerSecond, record, certificate, boxSig }
}

interface Shown {
  readonly seed: Uint8Array
  readonly depth: number
  readonly root: Uint8Array
  readonly elapsedUs: number
  readonly indices: readonly number[]
}

async function timedProduct(deps: CheckDeps, order: CheckOrder, depth: number): Promise<Shown | 'busy' | null> {
  const { keys, genesisHash, randomness, clock } = deps
  const { box, epoch, vrfProof, peer } = order
  const { signer } = keys
  const asked = { validator: signer.publicKey, epoch, box, seed: randomness.bytes(32), depth }
  const sig = signer.sign(checkMessage(genesisHash, asked))
  const timed = async () => {
    const startedUs = clock.monotonicUs()
    const answer = await ask(deps, peer, { kind: 'check', ...asked, vrfProof, sig })
    return { root: answer, elapsedUs: Math.max(1, clock.monotonicUs() - startedUs) }
  }
  let { root, elapsedUs } = await timed()
  for (let tries = 0; isBusy(root) && tries < MOST_TRIES; tries++) {
    await clock.sleep(BUSY_MS, NEVER)
    ;({ root, elapsedUs } = await timed())
  }
  if (root?.length !== 32) return isBusy(root) ? 'busy' : null
  return await opened(deps, order, { seed: asked.seed, depth, root, elapsedUs })
}

const isBusy = (answer: Uint8Array | null): boolean => answer !== null && equalBytes(answer, BUSY)

/** What was committed to holds where we look. */
async function opened(
  deps: CheckDeps,
  { peer, box }: CheckOrder,
  shown: Omit<Shown, 'indices'>,
): Promise<Shown | null> {
  const { randomness } = deps
  const { seed, depth, root } = shown
  // Drawn only now: the box must not know them before it has committed.
  const indices = Array.from({ length: MOST_OPENED }, () => Number(be256(randomness.bytes(32)) % 2n ** BigInt(depth)))
  const chunks = decodeOpened((await ask(deps, peer, { kind: 'open', box, seed, indices })) ?? new Uint8Array(0))
  const isRight = (index: number, i: number) => {
    const chunk = chunks?.[i]
    return (
      chunk !== undefined &&
      isInTree(root, depth, index, resultLeaf(index, chunk.bytes), chunk.path) &&
      equalBytes(chunk.bytes, deps.chunkAt(seed, CHECK_K, index))
    )
  }
  return indices.every(isRight) ? { ...shown, indices } : null
}

const ask = ({ network }: CheckDeps, peer: string, question: BoxQuestion): Promise<Uint8Array | null> =>
  network.request(peer, encodeBoxQuestion(question), { mostBytes: MOST_BYTES, timeoutMs: TIMEOUT_MS })
