import { equalBytes } from '../../core/bytes/bytes.ts'
import type { Signer } from '../../core/bytes/ed25519.ts'
import { toHex } from '../../core/bytes/hex.ts'
import { type ChainState, type Checks, etaOf, findAccount, located } from '../../core/chain/chainState.ts'
import { resultLeaf, treePath, treeRoot } from '../../core/chain/drilling/resultTree.ts'
import { epochOf } from '../../core/chain/params.ts'
import { boxAlpha, isBoxDrawn, runMessage } from '../../core/chain/transactions/boxes.ts'
import {
  type BoxCheck,
  type BoxOpen,
  type BoxRound,
  boxAtMessage,
  checkMessage,
  decodeBoxQuestion,
  encodeBoxes,
  encodeOpened,
  NO_ANSWER,
  WELCOME,
} from '../../core/chain/wire/boxQuestions.ts'
import type { ChainNode } from '../../ports/chainNode.ts'
import type { Clock } from '../../ports/clock.ts'
import { type InTurn, takeTurns } from '../shared/takeTurns.ts'
import { stateAtSlot } from './blockMaker.ts'
import { CHECK_K, DEEPEST_CHECK, LANES, MOST_ROUNDS } from './checkSizes.ts'

/** How long a box works for one validator in an epoch: a check takes a third of it. */
const SERVED_US = 8_000_000
/** Questions of one validator that wait: those it has under way, and one that it gave up before. */
const MOST_WAITING = LANES + 1

interface BoxServerDeps {
  readonly node: ChainNode
  readonly checks: Checks
  readonly clock: Clock
  readonly box: Signer
  /** The name of this node among its peers. */
  readonly peer: string
  execute(seed: Uint8Array, k: number, depth: number): Promise<readonly Uint8Array[]>
}

/** A validator that checks the box in this epoch. */
interface Visit {
  readonly validator: Uint8Array
  readonly inTurn: InTurn
  session: Uint8Array
  servedUs: number
  waiting: number
  /** By their seeds, the last ones: chunks of products that can be opened. */
  readonly made: Map<string, readonly Uint8Array[]>
}

/** Answers validators that check the box of this node (§4.5): those that the lottery lets, and nobody else. */
export class BoxServer {
  private readonly deps: BoxServerDeps
  private readonly visits = new Map<string, Visit>()
  private visitedIn = -1n

  constructor(deps: BoxServerDeps) {
    this.deps = deps
  }

  /** Null for what no honest node asks. */
  async answer(bytes: Uint8Array): Promise<Uint8Array | null> {
    const question = decodeBoxQuestion(bytes)
    if (question === null) return null
    if (question.kind === 'boxes') return await this.here()
    const { box } = this.deps
    if (!equalBytes(question.box, box.publicKey)) return NO_ANSWER
    if (question.kind === 'check') return await this.check(question)
    const visit = [...this.visits.values()].find(({ session }) => equalBytes(session, question.session))
    if (visit === undefined) return NO_ANSWER
    if (question.kind === 'round') return await this.round(visit, question)
    if (question.kind === 'open') return this.open(visit, question)
    // What it signs counts for this validator alone.
    const epoch = this.visitedIn
    const { genesisHash } = await this.deps.node.headState()
    return box.sign(runMessage(genesisHash, epoch, visit.validator, question.certificate))
  }

  private async here(): Promise<Uint8Array> {
    const { node, box, peer } = this.deps
    const { genesisHash, params } = await node.headState()
    const epoch = epochOf(BigInt(node.status().slot), params)
    const sig = box.sign(boxAtMessage(genesisHash, epoch, box.publicKey, peer))
    return encodeBoxes([{ box: box.publicKey, sig }])
  }

  private async check(asked: BoxCheck): Promise<Uint8Array> {
    const { node, checks } = this.deps
    const [head, slot] = [await node.headState(), BigInt(node.status().slot)]
    // What anybody can send costs little: the end of an epoch is worked out for an account of the chain alone.
    const isOfNow = asked.epoch === epochOf(slot, head.params)
    if (!isOfNow || findAccount(located(head), asked.validator) === -1) return NO_ANSWER
    if (!checks.signature(asked.sig, checkMessage(head.genesisHash, asked), asked.validator)) return NO_ANSWER
    if (!this.isDrawn(stateAtSlot(head, slot), asked)) return NO_ANSWER
    if (this.visitedIn !== asked.epoch) this.visits.clear()
    this.visitedIn = asked.epoch
    const { validator, session } = asked
    const known = this.visits.get(toHex(validator))
    const fresh = () => ({
      validator,
      session,
      servedUs: 0,
      waiting: 0,
      made: new Map(),
      inTurn: takeTurns(async () => {}),
    })
    const visit: Visit = known ?? fresh()
    visit.session = session
    visit.made.clear()
    this.visits.set(toHex(validator), visit)
    return WELCOME
  }

  /** A validator of now, drawn for this box by its own lottery. */
  private isDrawn(state: ChainState, asked: BoxCheck): boolean {
    const { view } = state
    const { checks, box } = this.deps
    const place = findAccount(located(state), asked.validator)
    if (asked.epoch !== view.epoch || !view.validators.getAll().includes(place)) return false
    const beta = checks.vrf(view.accounts.vrfKey.get(place), boxAlpha(etaOf(view, asked.epoch)), asked.vrfProof)
    return beta !== null && isBoxDrawn(beta, box.publicKey)
  }

  private async round(visit: Visit, { seed, depth }: BoxRound): Promise<Uint8Array> {
    if (depth > DEEPEST_CHECK || visit.waiting >= MOST_WAITING) return NO_ANSWER
    visit.waiting++
    try {
      return await visit.inTurn(() => this.product(visit, seed, depth))
    } finally {
      visit.waiting--
    }
  }

  private async product(visit: Visit, seed: Uint8Array, depth: number): Promise<Uint8Array> {
    const { clock, execute } = this.deps
    if (visit.servedUs >= SERVED_US) return NO_ANSWER
    const fromUs = clock.monotonicUs()
    const chunks = await execute(seed, CHECK_K, depth)
    visit.servedUs += clock.monotonicUs() - fromUs
    visit.made.set(toHex(seed), chunks)
    if (visit.made.size > MOST_ROUNDS) visit.made.delete(visit.made.keys().next().value!)
    return treeRoot(chunks.map((chunk, index) => resultLeaf(index, chunk)))
  }

  private open(visit: Visit, { places }: BoxOpen): Uint8Array {
    const opened = places.map(({ seed, index }) => {
      const chunks = visit.made.get(toHex(seed)) ?? []
      const leaves = () => chunks.map((chunk, at) => resultLeaf(at, chunk))
      return index < chunks.length ? { bytes: chunks[index]!, path: treePath(leaves(), index) } : null
    })
    if (opened.includes(null)) return NO_ANSWER
    // Once: who draws a second time has seen where the first one led.
    visit.made.clear()
    return encodeOpened(opened.filter((chunk) => chunk !== null))
  }
}
