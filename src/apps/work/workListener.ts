import { workNonce, workOpenNonce } from '../../core/attest/binding.ts'
import { boxWords } from '../../core/bytes/boxWords.ts'
import { equalBytes } from '../../core/bytes/bytes.ts'
import { checkSignature } from '../../core/bytes/ed25519.ts'
import { printable, SHORT_TEXT } from '../../core/bytes/printable.ts'
import { PIECE_BYTES, type WorkOrderMessage } from '../../core/wire/messages.ts'
import type { PatchEvidence, RunPatch } from '../../core/work/checkPatch.ts'
import { checkReceipt, type ReceiptFigures } from '../../core/work/checkReceipt.ts'
import { placeTrace, type SegmentEvidence, splitRoots } from '../../core/work/checkSegment.ts'
import { stateShapes } from '../../core/work/committedState.ts'
import type { TensorHasher } from '../../core/work/engineRun.ts'
import { MOST_PROVEN_BYTES } from '../../core/work/evidenceBehind.ts'
import type { Disputant } from '../../core/work/methods/dispute.ts'
import type { CheckerEngines } from '../../core/work/methods/step/checkStep.ts'
import { type ProvableSteps, stepsChecker } from '../../core/work/methods/step/provenWork.ts'
import type { ProvenProducts } from '../../core/work/methods/step/restPlan.ts'
import { proveWork } from '../../core/work/proveWork.ts'
import type { Receipt } from '../../core/work/receipt.ts'
import { hiddenLink, linksOf, type StateMark, stateRoot } from '../../core/work/stateChain.ts'
import { tensorBytes } from '../../core/work/tensor.ts'
import { endsOf, tracedSegment } from '../../core/work/trace.ts'
import { executedMessage, nonceCommitment } from '../../core/work/watched.ts'
import type { Work } from '../../core/work/work.ts'
import type { WorkKernels } from '../../core/work/workKernels.ts'
import type { Clock } from '../../ports/clock.ts'
import type { Randomness } from '../../ports/randomness.ts'
import type { ProverProcess } from '../../ports/remoteBox.ts'
import type { Tensors } from '../../ports/workDevice.ts'
import { fault } from '../shared/faults.ts'
import { HANDSHAKE_MS, type Patience, patienceWith } from './patience.ts'
import { nodesIn, ProverLine, patchIn, rootsIn, WorkRejected } from './proverLine.ts'
import { isDelivered } from './serveWork.ts'

export type WorkStep =
  | { readonly step: 'segment'; readonly segment: number; readonly mark: StateMark | null }
  | { readonly step: 'trace' | 'said' | 'proof'; readonly done: number }

export interface Watch {
  readonly work: Work<WorkKernels>
  readonly given: Tensors
  readonly prover: ProverProcess
  readonly clock: Clock
  readonly randomness: Randomness
  readonly hasher: TensorHasher
  /** Recomputes what was drawn. */
  readonly runPatch: RunPatch
  /** The state after every so many segments is part of the result; 0: the last one alone. */
  readonly every: number
  /** The longest that one segment may take. */
  readonly segmentMs: number
  /** While replicas run, what each says is hidden from the others. */
  readonly isHidden?: boolean
  /** W12.5. Drawn transitions are to be proven besides. */
  readonly proven?: WantedProofs
  onStep(step: WorkStep): void
  /** A state that is part of the result with the roots of its tensors, compared with its own as soon as that is known. */
  onState(segment: number, state: Tensors, roots: readonly Uint8Array[]): void | Promise<void>
}

/** Which products of drawn transitions are to be proven, and what checks that. */
export interface WantedProofs {
  readonly products: ProvenProducts
  openEngines(): Promise<CheckerEngines>
}

/** What was heard of a work that is done. */
export interface ExecutedWork extends Pick<Receipt, 'firstRoot' | 'device' | 'proverKey'> {
  readonly marks: readonly StateMark[]
  readonly elapsedUs: number
}

export interface WatchedWork extends ExecutedWork, Pick<Receipt, 'nonces' | 'segments' | 'proven'> {
  readonly figures: ReceiptFigures
}

const NO_STATE = new Uint8Array(32)

/**
 * W4.6. The side that listens: commits to its nonces, sends the seed, hears every state as it is made, draws after the last
 * one, and believes only what it recomputed. Throws WorkRejected as soon as a rule is broken.
 */
export class WorkListener {
  readonly #watch: Watch
  readonly #line: ProverLine
  readonly #nonces: readonly [Uint8Array, Uint8Array]
  readonly #commitments: Uint8Array[] = []
  #key: Uint8Array = NO_STATE
  #device = ''
  #firstRoot: Uint8Array = NO_STATE
  #marks: StateMark[] = []
  #states: [number, Uint8Array][] = []
  #signature: Uint8Array = NO_STATE
  #elapsedUs = 0
  #patience: Patience

  constructor(watch: Watch, signal: AbortSignal) {
    this.#watch = watch
    this.#line = new ProverLine(watch.prover, watch.clock, signal)
    this.#nonces = [watch.randomness.bytes(32), watch.randomness.bytes(32)]
    this.#patience = patienceWith(watch, 0)
  }

  get key(): Uint8Array {
    return this.#key
  }

  /** Hands over the assignment and everything it names. */
  async assign(): Promise<void> {
    const { work, given, every, isHidden = false, proven } = this.#watch
    await this.#line.send({ type: 'greet' })
    const { key, device } = await this.#line.expect('greeted', HANDSHAKE_MS)
    this.#key = key
    // No longer than a receipt of it can be.
    this.#device = printable(String.fromCharCode(...device), SHORT_TEXT)
    const [firstHash, secondHash] = this.#nonces.map(nonceCommitment) as [Uint8Array, Uint8Array]
    const spec = new TextEncoder().encode(work.text)
    const asked = { isHidden, every, proven: proven?.products ?? null }
    await this.#line.send({ type: 'assign', ...asked, firstHash, secondHash, orderId: work.orderId, spec })
    for (const [input, name] of [...work.given.keys()].entries()) {
      const bytes = given.get(name)!
      for (let at = 0; at < bytes.length; at += PIECE_BYTES)
        await this.#line.send({ type: 'give', input, bytes: bytes.subarray(at, at + PIECE_BYTES) })
    }
    const { provesSteps } = await this.#line.expect('accepted', HANDSHAKE_MS)
    if (proven && !provesSteps) throw fault('CANNOT_PROVE', { device: boxWords(this.#device) })
  }

  /** From the seed to the last h, by our clock. */
  async execute(): Promise<void> {
    const { work, segmentMs, clock, every, isHidden = false } = this.#watch
    const startedUs = await this.#line.send({ type: 'seed', seed: work.seed })
    for (let segment = work.isIndependent ? 0 : -1; segment < work.ends.length; segment++) {
      this.#line.due = Math.max(segment, 0)
      if (isHidden) await this.#hearHidden(segment)
      else await this.#hearMark(segment, segmentMs)
      this.#elapsedUs = Math.round(clock.monotonicUs() - startedUs)
      if (segment >= 0) this.#watch.onStep({ step: 'segment', segment, mark: this.#marks[segment] ?? null })
      if (segment >= 0 && isDelivered(work.ends.length, every, segment)) await this.#takeState(segment)
    }
    this.#patience = patienceWith(this.#watch, this.#elapsedUs)
    this.#signature = (await this.#line.expect('executed', HANDSHAKE_MS)).signature
    if (!isHidden) this.#requireSignature()
  }

  /** Every root it said, in the open. */
  get said(): Pick<Receipt, 'firstRoot' | 'marks'> {
    return { firstRoot: this.#firstRoot, marks: this.#marks }
  }

  get executed(): ExecutedWork {
    const said = { device: this.#device, proverKey: this.#key, elapsedUs: this.#elapsedUs }
    return { firstRoot: this.#firstRoot, marks: this.#marks, ...said }
  }

  /** Once all replicas are in: what was hidden. */
  async unveil(): Promise<void> {
    const { work } = this.#watch
    await this.#line.send({ type: 'unveil' })
    const { salt } = await this.#line.expect('unveiled', HANDSHAKE_MS)
    const from = work.isIndependent ? 0 : -1
    for (let segment = from; segment < work.ends.length; segment++) await this.#hearMark(segment, HANDSHAKE_MS)
    const links = linksOf(work.workId, this.#firstRoot, this.#marks).slice(work.isIndependent ? 1 : 0)
    const isAsHidden = links.every((link, i) => equalBytes(hiddenLink(this.#key, salt, link), this.#commitments[i]!))
    if (!isAsHidden) throw new WorkRejected('NOT_AS_HIDDEN')
    for (const [segment, root] of this.#states) this.#requireRoot(segment, root)
    this.#requireSignature()
  }

  /** W11. What the hardware signs before the seed is out, and after the last h; null where it cannot. */
  async vouch(when: 'before' | 'after'): Promise<{ readonly bundle: Uint8Array; readonly nonce: Uint8Array } | null> {
    const { work } = this.#watch
    await this.#line.send({ type: 'vouch' })
    const { bundle } = await this.#line.expect('vouched', HANDSHAKE_MS)
    const nonce =
      when === 'before' ? workOpenNonce(work.orderId, this.#key) : workNonce(work.workId, this.#key, this.lastLink)
    return bundle.length > 0 ? { bundle, nonce } : null
  }

  /** Of everything it said: what replicas are compared by. */
  get lastLink(): Uint8Array {
    return linksOf(this.#watch.work.workId, this.#firstRoot, this.#marks).at(-1)!
  }

  /** W8.8. The proof of a whole product, as it was handed over: nobody has looked at it. */
  async proveProduct(): Promise<Uint8Array> {
    await this.#line.send({ type: 'prove' })
    return (await this.#line.expect('proven', this.#patience.answerMs)).proof
  }

  /**
   * W5.4. The replica as a side of a dispute. What it said of its states is here; the rest is asked of it. Whoever does not
   * answer as it is due is told with the reason.
   */
  disputant(onSilent: (why: WorkRejected) => void): Disputant {
    const { work } = this.#watch
    const links = linksOf(work.workId, this.#firstRoot, this.#marks)
    const orNull = <T>(answer: Promise<T>): Promise<T | null> =>
      answer.catch((error: unknown) => {
        if (!(error instanceof WorkRejected)) throw error
        onSilent(error)
        return null
      })
    const ask = async <T extends 'traced' | 'nodes' | 'leaf' | 'patch'>(order: WorkOrderMessage, answer: T) => {
      await this.#line.send(order)
      return await this.#line.expect(answer, answer === 'traced' ? this.#patience.traceMs : this.#patience.answerMs)
    }
    return {
      link: async (segments) => links[segments] ?? null,
      mark: async (segments) =>
        segments === 0 ? { transition: 0, root: this.#firstRoot, statistics: [] } : (this.#marks[segments - 1] ?? null),
      trace: (segment) => orNull(ask({ type: 'askTrace', segment: segment + 1 }, 'traced').then(rootsIn)),
      nodes: (segment, at, level, from, count) =>
        orNull(ask({ type: 'askNodes', ...at, segment: segment + 1, level, from, count }, 'nodes').then(nodesIn)),
      leaf: (segment, at, leaf) =>
        orNull(ask({ type: 'askLeaf', ...at, segment: segment + 1, leaf }, 'leaf').then(({ bytes }) => bytes)),
      patch: (segment, draw) => orNull(ask({ type: 'askPatch', ...draw, segment: segment + 1 }, 'patch').then(patchIn)),
    }
  }

  /** Both draws; everything that was drawn is recomputed here. */
  async prove(): Promise<WatchedWork> {
    const { work, runPatch, proven } = this.#watch
    const { executed } = this
    const heard = {
      trace: (segment: number) => this.#trace(segment),
      open: (segment: number, draws: readonly unknown[]) => this.#open(segment, draws.length),
      ...(proven ? { steps: this.#hearSteps(proven.products) } : {}),
    }
    const proof = await proveWork(work, executed, heard, async (draw) => {
      await this.#line.send({ type: 'draw', nonce: this.#nonces[draw] })
      return this.#nonces[draw]
    })
    const said = { workId: work.workId, ...executed, ...proof }
    const checkSteps = proven && stepsChecker(await proven.openEngines(), work)
    const { problem, figures } = checkReceipt(work, said, runPatch, checkSteps)
    if (problem) throw new WorkRejected('NOT_SHOWN', [problem.code, problem.step ?? ''].filter(Boolean).join(' '))
    return { ...executed, ...proof, figures }
  }

  async #hearHidden(segment: number): Promise<void> {
    const { commitment, segment: said } = await this.#line.expect('hidden', this.#watch.segmentMs)
    if (said !== segment + 1) throw new WorkRejected('OUT_OF_TURN', `segment ${said} where ${segment + 1} was due`)
    this.#commitments.push(commitment)
  }

  async #hearMark(segment: number, withinMs: number): Promise<void> {
    const { ends } = this.#watch.work
    const { segment: said, root, statistics } = await this.#line.expect('mark', withinMs)
    if (said !== segment + 1) throw new WorkRejected('OUT_OF_TURN', `segment ${said} where ${segment + 1} was due`)
    if (statistics.length % 4 !== 0) throw new WorkRejected('GARBLED', 'statistics')
    const view = new DataView(statistics.buffer, statistics.byteOffset, statistics.byteLength)
    const bits = Array.from({ length: statistics.length / 4 }, (_, i) => view.getUint32(4 * i, true))
    // A receipt has as many figures of each state: any other could not be written down (attack 224).
    if (segment > 0 && bits.length !== this.#marks[0]!.statistics.length)
      throw new WorkRejected('GARBLED', 'statistics')
    if (segment < 0) this.#firstRoot = root
    else this.#marks.push({ transition: ends[segment]!, root, statistics: bits })
  }

  /** W12.5. What is said of drawn transitions, and their proofs, no longer together than a receipt holds. */
  #hearSteps(products: ProvenProducts): ProvableSteps {
    let room = MOST_PROVEN_BYTES
    return {
      products,
      say: async (segment) => {
        const { segment: said, root, roots } = await this.#line.expect('saidStep', this.#patience.traceMs)
        if (said !== segment + 1 || roots.length % 32 !== 0) throw new WorkRejected('OUT_OF_TURN', `step ${segment}`)
        this.#watch.onStep({ step: 'said', done: segment })
        return { root, roots: splitRoots(roots) }
      },
      prove: async (segment) => {
        const {
          segment: said,
          restBytes,
          productsBytes,
        } = await this.#line.expect('stepProof', this.#patience.answerMs)
        room -= restBytes + productsBytes
        if (said !== segment + 1 || room < 0) throw new WorkRejected('OUT_OF_TURN', `proof of ${segment}`)
        const part = (tensor: number, bytes: number) => this.#takePieces(segment, tensor, bytes, `proof of ${segment}`)
        const proof = { rest: await part(0, restBytes), products: await part(1, productsBytes) }
        this.#watch.onStep({ step: 'proof', done: segment })
        return proof
      },
    }
  }

  /** Whole pieces: a byte at a time, each of them in time, would never end (attack 227). */
  async #takePieces(segment: number, tensor: number, length: number, what: string): Promise<Uint8Array> {
    const bytes = new Uint8Array(length)
    for (let at = 0; at < length; ) {
      const piece = await this.#line.expect('piece', HANDSHAKE_MS)
      const isWhole = piece.bytes.length === Math.min(PIECE_BYTES, length - at)
      if (piece.segment !== segment + 1 || piece.tensor !== tensor || !isWhole)
        throw new WorkRejected('OTHER_RESULT', what)
      bytes.set(piece.bytes, at)
      at += piece.bytes.length
    }
    return bytes
  }

  /** A whole state: its sizes are ours, and its root must be the one that was committed. */
  async #takeState(segment: number): Promise<void> {
    const { work, hasher, onState, isHidden } = this.#watch
    const state = new Map<string, Uint8Array>()
    const roots: Uint8Array[] = []
    for (const [tensor, [name, shape]] of [...stateShapes(work, segment)].entries()) {
      const bytes = await this.#takePieces(segment, tensor, tensorBytes(shape), name)
      roots.push(hasher.root(shape, bytes))
      state.set(name, bytes)
    }
    if (isHidden) this.#states.push([segment, stateRoot(roots)])
    else this.#requireRoot(segment, stateRoot(roots))
    await onState(segment, state, roots)
  }

  #requireRoot(segment: number, root: Uint8Array): void {
    if (!equalBytes(root, this.#marks[segment]!.root)) throw new WorkRejected('OTHER_RESULT', `segment ${segment}`)
  }

  #requireSignature(): void {
    const { workId } = this.#watch.work
    const isSigned = checkSignature(this.#signature, executedMessage(workId, this.lastLink), this.#key)
    if (!isSigned) throw new WorkRejected('BAD_SIGNATURE')
  }

  async #trace(segment: number): Promise<readonly Uint8Array[]> {
    const { segment: said, roots } = await this.#line.expect('traced', this.#patience.traceMs)
    if (said !== segment + 1 || roots.length % 32 !== 0) throw new WorkRejected('OUT_OF_TURN', `trace of ${segment}`)
    const { work } = this.#watch
    const traced = tracedSegment(work, segment, endsOf(segment, this.#firstRoot, this.#marks))
    const found = placeTrace(traced, splitRoots(roots))
    if ('code' in found) throw new WorkRejected('NOT_SHOWN', found.code)
    this.#watch.onStep({ step: 'trace', done: segment })
    return splitRoots(roots)
  }

  async #open(segment: number, count: number): Promise<SegmentEvidence['patches']> {
    const patches: PatchEvidence[] = []
    while (patches.length < count) {
      const { segment: said, index, leafBytes, bytes } = await this.#line.expect('patch', this.#patience.answerMs)
      const isNext = said === segment + 1 && index === patches.length && leafBytes <= bytes.length
      if (!isNext) throw new WorkRejected('OUT_OF_TURN', `patch of ${segment}`)
      patches.push({ leaves: bytes.subarray(0, leafBytes), proof: bytes.subarray(leafBytes) })
    }
    return patches
  }
}
