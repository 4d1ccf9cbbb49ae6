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
  checkMessage,
  decodeOpened,
  encodeBoxQuestion,
  MOST_OPENED,
  type OpenedChunks,
  WELCOME,
} from '../../core/chain/wire/boxQuestions.ts'
import { operationsOf } from '../../core/work/drilled/productTask.ts'
import type { Clock } from '../../ports/clock.ts'
import type { Network } from '../../ports/network.ts'
import type { Randomness } from '../../ports/randomness.ts'
import { within } from '../shared/within.ts'
import { CHECK_K, LANES, MOST_ROUNDS, SIZING, WINDOW_MS } from './checkSizes.ts'

const WINDOW_US = 1_000 * WINDOW_MS
/** How long a round should take at least and at most, the way to the box not counted: what is unfinished is lost. */
const SHORTEST_ROUND_US = WINDOW_US / 16
const LONGEST_ROUND_US = WINDOW_US / 8
/** A product that takes as long is followed by no larger one. */
const TOO_LONG_US = WINDOW_US / 4
const ANSWER_US = 1_000_000
const MOST_BYTES = 8_192

export interface CheckDeps {
  readonly network: Pick<Network, 'request'>
  readonly clock: Clock
  readonly randomness: Randomness
  readonly keys: AccountKeys
  readonly genesisHash: Uint8Array
  readonly checkSignature: (signature: Uint8Array, message: Uint8Array, key: Uint8Array) => boolean
  /** The right chunk at a place of a product, made where it stops no clock. */
  chunkAt(seed: Uint8Array, k: number, index: number): Promise<Uint8Array>
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

interface Round {
  readonly seed: Uint8Array
  readonly root: Uint8Array
}

interface Place {
  readonly round: number
  readonly index: number
}

/** The check of one box, as a validator sees it. `checkBoxes` leads those of all boxes through its steps together. */
export class BoxTrial {
  private readonly deps: CheckDeps
  private readonly order: CheckOrder
  private readonly session: Uint8Array
  /** Of a round; null until the box has shown anything. */
  private depth: number | null = null
  private asked = 0
  /** Those that were there in time. */
  private readonly rounds: Round[] = []

  constructor(deps: CheckDeps, order: CheckOrder) {
    this.deps = deps
    this.order = order
    this.session = deps.randomness.bytes(32)
  }

  /** Growing products until one is large enough for a round; nothing of it counts. */
  async size(gateUs: number): Promise<void> {
    const { clock } = this.deps
    const calledUs = clock.monotonicUs()
    if (!(await this.begin(gateUs))) return
    const welcomeUs = clock.monotonicUs() - calledUs
    // What is given up at the gate is computed all the same, in the window.
    const fits = (us: number) => clock.monotonicUs() + us <= gateUs
    let wayUs = Number.POSITIVE_INFINITY
    for (const depth of SIZING) {
      const isEnough = (us: number) => us - wayUs >= SHORTEST_ROUND_US || us >= TOO_LONG_US
      const firstUs = await this.timed(depth, gateUs)
      if (firstUs === null) return
      // Once more: a box that was asleep, or interrupted, would be asked for rounds that are too small for it.
      const again = isEnough(firstUs) && fits(firstUs) ? await this.timed(depth, gateUs) : null
      const tookUs = Math.min(firstUs, again ?? firstUs)
      // What the smallest took is the way there, and what comes with every product.
      wayUs = Math.min(wayUs, tookUs)
      const halvings = Math.ceil(Math.log2((tookUs - wayUs) / LONGEST_ROUND_US))
      this.depth = Math.max(0, depth - Math.max(0, halvings))
      // The next one is four times as large; the way to the box is not.
      if (isEnough(tookUs) || !fits(tookUs + 3 * Math.max(0, tookUs - welcomeUs))) return
    }
  }

  /** Round after round until the window ends. Each has a seed that nobody knew before. */
  async run(endUs: number): Promise<void> {
    const { depth } = this
    const { clock } = this.deps
    if (depth === null) return
    const lane = async () => {
      while (this.asked < MOST_ROUNDS && clock.monotonicUs() < endUs) {
        this.asked++
        const round = await this.product(depth, endUs)
        if (round === null || clock.monotonicUs() > endUs) return
        this.rounds.push(round)
      }
    }
    await Promise.all(Array.from({ length: LANES }, lane))
  }

  /** Whether what was committed to holds where we look. Only after the windows of all: this takes our time. */
  async judge(): Promise<CheckedBox | null> {
    const { rounds, depth, session } = this
    const { randomness, keys, genesisHash, checkSignature } = this.deps
    const { box, epoch } = this.order
    if (rounds.length === 0 || depth === null) return null
    const below = (limit: number) => Number(be256(randomness.bytes(32)) % BigInt(limit))
    const drawn = Array.from({ length: MOST_OPENED }, () => ({ round: below(rounds.length), index: below(2 ** depth) }))
    const places = drawn.map(({ round, index }) => ({ seed: rounds[round]!.seed, index }))
    const opened = await this.ask({ kind: 'open', box, session, places })
    if (!(await this.isRight(drawn, decodeOpened(opened ?? new Uint8Array(0)) ?? []))) return null
    const record = this.recordOf(drawn)
    const certificate = sha256(new TextEncoder().encode(record))
    const boxSig = await this.ask({ kind: 'witness', box, session, certificate })
    const message = runMessage(genesisHash, epoch, keys.signer.publicKey, certificate)
    if (boxSig?.length !== 64 || !checkSignature(boxSig, message, box)) return null
    const operations = rounds.length * Number(operationsOf(CHECK_K, depth))
    return { operationsPerSecond: (operations * 1_000) / WINDOW_MS, record, certificate, boxSig }
  }

  private async begin(gateUs: number): Promise<boolean> {
    const { keys, genesisHash } = this.deps
    const { box, epoch, vrfProof } = this.order
    const asked = { validator: keys.signer.publicKey, epoch, box, session: this.session }
    const sig = keys.signer.sign(checkMessage(genesisHash, asked))
    const answer = await this.ask({ kind: 'check', ...asked, vrfProof, sig }, gateUs)
    return answer !== null && equalBytes(answer, WELCOME)
  }

  private async timed(depth: number, untilUs: number): Promise<number | null> {
    const { clock } = this.deps
    const startedUs = clock.monotonicUs()
    return (await this.product(depth, untilUs)) === null ? null : clock.monotonicUs() - startedUs
  }

  private async product(depth: number, untilUs: number): Promise<Round | null> {
    const seed = this.deps.randomness.bytes(32)
    const root = await this.ask({ kind: 'round', box: this.order.box, session: this.session, seed, depth }, untilUs)
    return root?.length === 32 ? { seed, root } : null
  }

  /** Paths first, then chunk by chunk up to the first that is wrong: garbage costs us little. */
  private async isRight(drawn: readonly Place[], chunks: OpenedChunks): Promise<boolean> {
    const isThere = ({ round, index }: Place, i: number) => {
      const chunk = chunks[i]
      const { root } = this.rounds[round]!
      return chunk !== undefined && isInTree(root, this.depth!, index, resultLeaf(index, chunk.bytes), chunk.path)
    }
    if (!drawn.every(isThere)) return false
    for (const [i, { round, index }] of drawn.entries()) {
      const right = await this.deps.chunkAt(this.rounds[round]!.seed, CHECK_K, index)
      if (!equalBytes(chunks[i]!.bytes, right)) return false
    }
    return true
  }

  private recordOf(drawn: readonly Place[]): string {
    const { keys, genesisHash } = this.deps
    const { box, epoch } = this.order
    return canonicalJson({
      ...{ format: 'touchstone-check-2', chain: toHex(genesisHash), epoch: String(epoch), box: toHex(box) },
      ...{ validator: toHex(keys.signer.publicKey), k: CHECK_K, depth: this.depth!, windowMs: WINDOW_MS },
      rounds: this.rounds.map(({ seed, root }) => ({ seed: toHex(seed), root: toHex(root) })),
      opened: drawn.map(({ round, index }) => [round, index]),
    })
  }

  /** Null for no answer in time. */
  private async ask(question: BoxQuestion, untilUs?: number): Promise<Uint8Array | null> {
    const { network, clock } = this.deps
    const nowUs = clock.monotonicUs()
    const timeoutMs = Math.max(1, Math.ceil(((untilUs ?? nowUs + ANSWER_US) - nowUs) / 1_000))
    const asked = network.request(this.order.peer, encodeBoxQuestion(question), { mostBytes: MOST_BYTES, timeoutMs })
    return await within(clock, timeoutMs, asked)
  }
}
