import { checkSignature, type Signer } from '../../core/bytes/ed25519.ts'
import { toHex } from '../../core/bytes/hex.ts'
import { taggedHash } from '../../core/bytes/sha256.ts'
import type { Statement } from '../../core/certificate/statement.ts'
import { PROTOCOL_VERSION } from '../../core/params/constants.ts'
import { type Challenge, encodeChallenge, readyMessage } from '../../core/proof/challenge.ts'
import { devicesOf, type Phase } from '../../core/proof/part.ts'
import { kindOf, type Part, type PlannedPart } from '../../core/proof/partKinds.ts'
import type { RejectReason } from '../../core/proof/reasons.ts'
import { nonceHash } from '../../core/proof/seeds.ts'
import { type PartEvidence, verifyRoots } from '../../core/proof/verifyPart.ts'
import type { Answer } from '../../core/wire/messages.ts'
import type { ChainAnchor } from '../../ports/chainAnchor.ts'
import { expectBeforeStart, HANDSHAKE_US, type Line, type ProverFault } from './greetProver.ts'
import type { Event } from './proverSession.ts'

/** Where a part stands, for people who watch. */
export interface Progress {
  readonly part: number
  readonly phase: Phase['name'] | 'openings'
  readonly device: number
  readonly done: number
  readonly of: number
}

/** Everything a challenge left behind; rejected as soon as one rule of §4 is broken. */
export interface Conducted {
  readonly challenge: Challenge
  readonly parts: readonly PartEvidence[]
  readonly readySignature: Uint8Array
  readonly resultSignature: Uint8Array
  readonly rejected: RejectReason | null
  /** Why the prover gave up, where it did so before the nonce of the part under way was out. */
  readonly gaveUp: ProverFault | null
  /** T0 of every part in `parts`, by our clock. */
  readonly startedUs: readonly number[]
  /** §9: what the devices had signed, before and after; hostile, and empty where one could not. */
  readonly evidence: readonly Uint8Array[]
  /** §10: the block behind each S_p, where every one of them has one of the same chain. */
  readonly anchor: Anchor | null
}

/** As a certificate states it. */
export type Anchor = NonNullable<Statement['predicate']['anchor']>

export interface ExchangeInputs {
  readonly plan: readonly PlannedPart[]
  readonly proverKey: Uint8Array
  readonly deviceCount: number
  readonly signer: Signer
  readonly anchor?: ChainAnchor | undefined
  readonly onProgress: (progress: Progress) => void
}

/** The part under way, and what has come of it so far. */
interface Under extends Pick<PartEvidence, 's' | 'nonce'> {
  readonly p: number
  readonly part: Part
  readonly t0Us: number
  readonly devices: readonly {
    readonly device: number
    readonly roots: Uint8Array[]
    readonly arrivalsUs: number[]
    openings: Uint8Array | null
  }[]
  z: Uint8Array | null
  zSentUs: number | null
}

/**
 * One challenge and what is said to it. Faults before T0 throw; from T0 on whatever breaks a rule is a reason to reject,
 * which each step returns.
 */
export class Exchange {
  readonly challenge: Challenge
  readonly #line: Line
  readonly #nonces: readonly Uint8Array[]
  readonly #onProgress: (progress: Progress) => void
  readonly #parts: PartEvidence[] = []
  readonly #startedUs: number[] = []
  #readySignature: Uint8Array = new Uint8Array(0)
  #resultSignature: Uint8Array = new Uint8Array(0)
  #gaveUp: ProverFault | null = null
  readonly #evidence: Uint8Array[] = []
  readonly #anchor: ChainAnchor | null
  /** One a part that was begun. */
  readonly #anchored: (AnchoredPart | null)[] = []

  /** Draws the nonces, and makes the challenge for this prover's key. */
  constructor({ plan, proverKey, deviceCount, signer, anchor, onProgress }: ExchangeInputs, line: Line) {
    const { randomness } = line
    this.#anchor = anchor ?? null
    this.#line = line
    this.#onProgress = onProgress
    this.#nonces = plan.map(() => randomness.bytes(32))
    this.challenge = {
      version: PROTOCOL_VERSION,
      runId: randomness.bytes(16),
      validatorKey: signer.publicKey,
      proverKey,
      deviceCount,
      parts: plan.map((part, p) => ({ ...part, nonceHash: nonceHash(this.#nonces[p]!) })),
    }
  }

  async askReady(): Promise<RejectReason | null> {
    const { challenge } = this
    await this.#line.session.send({ type: 'challenge', bytes: encodeChallenge(challenge) })
    const { signature } = await expectBeforeStart(this.#line, 'ready')
    if (!checkSignature(signature, readyMessage(challenge), challenge.proverKey)) return { code: 'BAD_READY_SIGNATURE' }
    this.#readySignature = signature
    return null
  }

  /** S_p: from here on the clock runs. */
  async start(p: number): Promise<Under> {
    const part = this.challenge.parts[p]!
    const s = this.#drawSeed()
    // §4.3 T0 is read before the first byte of S is written. It is told at once: a box chooses when it takes that (attack 409).
    const sent = this.#line.session.send({ type: 'start', part: p, s })
    const devices = devicesOf(part).map((device) => ({ device, roots: [], arrivalsUs: [], openings: null }))
    const [phase] = kindOf(part).phases
    const { device } = devices[0]!
    this.#onProgress({ part: p, phase: phase!.name, device, done: 0, of: phase!.roots(part, device) })
    return { p, part, s, nonce: this.#nonces[p]!, t0Us: await sent, devices, z: null, zSentUs: null }
  }

  /** §10: fresh, and where a chain is at hand, younger than its last final block. */
  #drawSeed(): Uint8Array {
    const random = this.#line.randomness.bytes(32)
    const block = this.#anchor?.latest() ?? null
    const place = block && { height: block.height, block: toHex(block.hash), random: toHex(random) }
    this.#anchored.push(block && place && { chain: block.chain, place })
    return block === null ? random : taggedHash('tsp1/s', block.hash, random)
  }

  /** Every root of every device: phase by phase, each in its time. A cohort may be waited for before a later one. */
  async collectRoots(under: Under, beforePhase: (phase: number) => Promise<void>): Promise<RejectReason | null> {
    let startedUs = under.t0Us
    let owed = (_: number): number => 0
    for (const [i, phase] of kindOf(under.part).phases.entries()) {
      if (i > 0) {
        await beforePhase(i)
        under.z = this.#line.randomness.bytes(32)
        startedUs = await this.#line.session.send({ type: 'passes', part: under.p, z: under.z })
        under.zSentUs = startedUs - under.t0Us
      }
      const before = owed
      owed = (device) => before(device) + phase.roots(under.part, device)
      const rejected = await this.#collectPhase(under, phase.name, owed, startedUs + under.part.limitMs * 1000)
      if (rejected) return rejected
    }
    return null
  }

  async #collectPhase(
    under: Under,
    phase: Phase['name'],
    target: (device: number) => number,
    deadlineUs: number,
  ): Promise<RejectReason | null> {
    const { p: part, devices } = under
    const missing = () => devices.find(({ device, roots }) => roots.length < target(device))
    for (let next = missing(); next; next = missing()) {
      const { device, roots } = next
      const place = { part, device }
      const event = await this.#line.session.next(deadlineUs, this.#line.signal)
      if (event.kind === 'timeout') return { code: 'LATE_ROOT', ...place, expected: target(device), got: roots.length }
      if (event.kind === 'answer' && event.answer.type === 'fault') return this.#giveUp(event.answer, part)
      if (event.kind !== 'answer') return brokenBy(event, place)
      const { answer, atUs } = event
      if (answer.type === 'opened') return { code: 'UNEXPECTED_OPENING', ...place, got: since(under, atUs) }
      if (answer.type !== 'root') return { code: 'UNEXPECTED_MESSAGE', ...place, expected: 'root', got: answer.type }
      const rejected = takeRoot(under, answer, atUs, target)
      if (rejected) return rejected
      const done = devices.find((one) => one.device === answer.device)!.roots.length
      this.#onProgress({ part, phase, device: answer.device, done, of: target(answer.device) })
    }
    return null
  }

  /** Said while nothing of the part could yet be opened, so that giving up hides nothing: another device may go on (§4.3). */
  #giveUp({ code, text }: ProverFault, part: number): RejectReason {
    this.#gaveUp = { code, text }
    return { code: 'REFUSED', part, expected: 'roots', got: code }
  }

  /** The nonce of the part, and with it what is drawn; then the paths of every device. */
  async collectOpenings(under: Under): Promise<RejectReason | null> {
    const { p: part, devices } = under
    const { session, signal } = this.#line
    const sentUs = await session.send({ type: 'reveal', part, nonce: under.nonce })
    const deadlineUs = sentUs + under.part.openLimitMs * 1000
    for (let done = 0; done < devices.length; ) {
      const event = await session.next(deadlineUs, signal)
      if (event.kind === 'timeout') return { code: 'LATE_OPENING', part }
      if (event.kind !== 'answer' || event.answer.type === 'fault') return brokenBy(event, { part })
      const { answer, atUs } = event
      if (answer.type === 'root')
        return { code: 'UNEXPECTED_ROOT', part, device: answer.device, got: `one more at ${since(under, atUs)}` }
      if (answer.type !== 'opened') return { code: 'UNEXPECTED_MESSAGE', part, expected: 'openings', got: answer.type }
      const rejected = this.#takeOpenings(under, answer, atUs, sentUs)
      if (rejected) return rejected
      this.#onProgress({ part, phase: 'openings', device: answer.device, done: ++done, of: devices.length })
    }
    return null
  }

  /** The length is ours: megabytes nobody asked for are not even kept (attack 43). */
  #takeOpenings(
    under: Under,
    { part, device, paths }: Extract<Answer, { type: 'opened' }>,
    atUs: number,
    sentUs: number,
  ): RejectReason | null {
    const place = { part: under.p, device }
    const one = under.devices.find((other) => other.device === device)
    if (!one || one.openings !== null || part !== under.p || atUs < sentUs)
      return { code: 'UNEXPECTED_OPENING', ...place, got: since(under, atUs) }
    const expected = under.part.openings * kindOf(under.part).openingBytes(this.challenge.parts, under.p, device)
    if (paths.length !== expected) return { code: 'WRONG_OPENING_SIZE', ...place, expected, got: paths.length }
    one.openings = paths
    return null
  }

  /** What broke the rules is named by the reason; only evidence that keeps them goes into a certificate. */
  keep({ p, s, nonce, z, zSentUs, t0Us, devices }: Under): RejectReason | null {
    const answered = devices.map((one) => ({ ...one, openings: one.openings! }))
    const part: PartEvidence = { s, nonce, z, zSentUs, devices: answered }
    const rejected = verifyRoots({ challenge: this.challenge, parts: [...this.#parts, part] }, p)
    if (rejected) return rejected
    this.#parts.push(part)
    this.#startedUs.push(t0Us)
    return null
  }

  /** §9: what the vendors have the devices sign; not timed. */
  async askEvidence(): Promise<RejectReason | null> {
    const { session, clock, signal } = this.#line
    await session.send({ type: 'attest' })
    if (this.#parts.length === 0) {
      this.#evidence.push((await expectBeforeStart(this.#line, 'attested')).bundle)
      return null
    }
    const event = await session.next(clock.monotonicUs() + HANDSHAKE_US, signal)
    if (event.kind !== 'answer' || event.answer.type === 'fault') return brokenBy(event, {})
    const { answer } = event
    if (answer.type !== 'attested') return { code: 'UNEXPECTED_MESSAGE', expected: 'evidence', got: answer.type }
    this.#evidence.push(answer.bundle)
    return null
  }

  /** Its signature is checked in turn with others: that hashes every root, and boxes may end at once (attack 428). */
  async askResult(): Promise<RejectReason | null> {
    const { session, clock, signal } = this.#line
    await session.send({ type: 'finish' })
    const event = await session.next(clock.monotonicUs() + HANDSHAKE_US, signal)
    if (event.kind !== 'answer' || event.answer.type === 'fault') return brokenBy(event, {})
    const { answer } = event
    if (answer.type !== 'result') return { code: 'UNEXPECTED_MESSAGE', expected: 'result', got: answer.type }
    this.#resultSignature = answer.signature
    return null
  }

  ended(rejected: RejectReason | null): Conducted {
    return {
      challenge: this.challenge,
      parts: this.#parts,
      readySignature: this.#readySignature,
      resultSignature: this.#resultSignature,
      rejected,
      gaveUp: this.#gaveUp,
      startedUs: this.#startedUs,
      evidence: this.#evidence,
      anchor: anchorOf(this.#anchored.slice(0, this.#parts.length)),
    }
  }
}

interface AnchoredPart {
  readonly chain: string
  readonly place: Anchor['parts'][number]
}

function anchorOf(parts: readonly (AnchoredPart | null)[]): Anchor | null {
  const [first] = parts
  const known = parts.flatMap((part) => (part?.chain === first?.chain && part ? [part.place] : []))
  return first && known.length === parts.length ? { chain: first.chain, parts: known } : null
}

const since = ({ t0Us }: Under, atUs: number): string => `${((atUs - t0Us) / 1e6).toFixed(3)} s after the start`

/** Order, device and count are ours: a root out of place is refused whatever it holds (attacks 1, 11). */
function takeRoot(
  under: Under,
  { part, device, index, root }: Extract<Answer, { type: 'root' }>,
  atUs: number,
  target: (device: number) => number,
): RejectReason | null {
  const one = under.devices.find((other) => other.device === device)
  const misplaced = part !== under.p || !one || index !== one.roots.length || index >= target(device)
  if (misplaced)
    return {
      code: 'UNEXPECTED_ROOT',
      part: under.p,
      device,
      expected: one ? `root ${one.roots.length} of ${target(device)}` : 'no root of this device',
      got: `root ${index} of part ${part} at ${since(under, atUs)}`,
    }
  one.roots.push(root)
  one.arrivalsUs.push(atUs - under.t0Us)
  return null
}

/** From T0 on: silence, disconnection, garbage and refusal are rejections (§4.3, attack 34). */
function brokenBy(event: Event, place: Pick<RejectReason, 'part' | 'device'>): RejectReason {
  if (event.kind === 'ended') return { code: 'VANISHED', ...place }
  if (event.kind === 'malformed') return { code: 'MALFORMED_MESSAGE', ...place, got: event.what }
  if (event.kind === 'answer' && event.answer.type === 'fault')
    return { code: 'REFUSED', ...place, got: event.answer.code }
  return { code: 'VANISHED', ...place, got: 'silence' }
}
