import { equalBytes } from '../../core/bytes/bytes.ts'
import type { Signer } from '../../core/bytes/ed25519.ts'
import { toHex } from '../../core/bytes/hex.ts'
import { type ChainState, type Checks, etaOf, findAccount, located } from '../../core/chain/chainState.ts'
import { resultLeaf, treePath, treeRoot } from '../../core/chain/drilling/resultTree.ts'
import { boxAlpha, isBoxDrawn, runMessage } from '../../core/chain/transactions/boxes.ts'
import {
  type BoxCheck,
  type BoxOpen,
  type BoxWitness,
  BUSY,
  checkMessage,
  decodeBoxQuestion,
  encodeBoxes,
  encodeOpened,
  NO_ANSWER,
} from '../../core/chain/wire/boxQuestions.ts'
import type { ChainNode } from '../../ports/chainNode.ts'
import { stateAtSlot } from './blockMaker.ts'
import { CHECK_K, DEEPEST_CHECK } from './checkSizes.ts'

/** Products that one validator may ask a box for in an epoch: it begins with a small one. */
const CHECKS_EACH = 8

interface BoxServerDeps {
  readonly node: ChainNode
  readonly checks: Checks
  readonly box: Signer
  execute(seed: Uint8Array, k: number, depth: number): Promise<readonly Uint8Array[]>
}

/** Answers validators that check the box of this node (§4.5): those that the lottery lets, and nobody else. */
export class BoxServer {
  private readonly deps: BoxServerDeps
  /** The last product, by its seed; one at a time. */
  private last: { readonly seed: Uint8Array; readonly chunks: readonly Uint8Array[] } | null = null
  private isBusy = false
  /** How often each validator asked in an epoch. */
  private asked = new Map<string, number>()
  private askedIn = -1n

  constructor(deps: BoxServerDeps) {
    this.deps = deps
  }

  /** Null for what no honest node asks. */
  async answer(bytes: Uint8Array): Promise<Uint8Array | null> {
    const question = decodeBoxQuestion(bytes)
    if (question === null) return null
    const { box } = this.deps
    if (question.kind === 'boxes') return encodeBoxes([box.publicKey])
    if (!equalBytes(question.box, box.publicKey)) return NO_ANSWER
    if (question.kind === 'check') return await this.check(question)
    return question.kind === 'open' ? this.open(question) : this.witness(question)
  }

  private async check(asked: BoxCheck): Promise<Uint8Array> {
    const { node, execute } = this.deps
    const state = stateAtSlot(await node.headState(), BigInt(node.status().slot))
    if (asked.depth > DEEPEST_CHECK || !this.isDrawn(state, asked)) return NO_ANSWER
    if (this.isBusy) return BUSY
    if (!this.count(asked)) return NO_ANSWER
    this.isBusy = true
    try {
      this.last = { seed: asked.seed, chunks: await execute(asked.seed, CHECK_K, asked.depth) }
      return treeRoot(this.last.chunks.map((chunk, index) => resultLeaf(index, chunk)))
    } finally {
      this.isBusy = false
    }
  }

  /** A validator of now, drawn for this box by its own lottery. */
  private isDrawn(state: ChainState, asked: BoxCheck): boolean {
    const { view, genesisHash } = state
    const { checks, box } = this.deps
    const place = findAccount(located(state), asked.validator)
    if (asked.epoch !== view.epoch || !view.validators.getAll().includes(place)) return false
    if (!checks.signature(asked.sig, checkMessage(genesisHash, asked), asked.validator)) return false
    const beta = checks.vrf(view.accounts.vrfKey.get(place), boxAlpha(etaOf(view, asked.epoch)), asked.vrfProof)
    return beta !== null && isBoxDrawn(beta, box.publicKey)
  }

  /** Whether it has not asked too often. */
  private count(asked: BoxCheck): boolean {
    if (this.askedIn !== asked.epoch) this.asked = new Map()
    this.askedIn = asked.epoch
    const times = (this.asked.get(toHex(asked.validator)) ?? 0) + 1
    this.asked.set(toHex(asked.validator), times)
    return times <= CHECKS_EACH
  }

  private open({ seed, indices }: BoxOpen): Uint8Array {
    if (this.last === null || !equalBytes(this.last.seed, seed)) return NO_ANSWER
    const { chunks } = this.last
    // Once: who draws a second time has seen where the first one led.
    this.last = null
    if (indices.some((index) => index >= chunks.length)) return NO_ANSWER
    const leaves = chunks.map((chunk, index) => resultLeaf(index, chunk))
    return encodeOpened(indices.map((index) => ({ bytes: chunks[index]!, path: treePath(leaves, index) })))
  }

  /** Only for a validator that checked the box in this epoch; what it signs counts for that validator alone. */
  private witness({ epoch, validator, certificate }: BoxWitness): Uint8Array {
    if (this.askedIn !== epoch || !this.asked.has(toHex(validator))) return NO_ANSWER
    return this.deps.box.sign(runMessage(epoch, validator, certificate))
  }
}
