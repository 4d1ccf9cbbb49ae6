import type { AttestationReader, CarriedEvidence } from '../../core/attest/attestationReader.ts'
import { checkSignature, type Signer } from '../../core/bytes/ed25519.ts'
import { printable, SHORT_TEXT } from '../../core/bytes/printable.ts'
import { type AttestedRun, attestedRun, NOT_ATTESTED } from '../../core/certificate/attestedRun.ts'
import { issueInSlices } from '../../core/certificate/issueCertificate.ts'
import { type Judgement, judgeRun } from '../../core/certificate/judgeRun.ts'
import { askedPreset, shortParts, type Timed } from '../../core/certificate/shortParts.ts'
import type { Catalogue } from '../../core/identify/catalogue.ts'
import type { HostPart } from '../../core/inventory/hostReport.ts'
import type { Inventory } from '../../core/inventory/inventory.ts'
import type { Preset } from '../../core/params/presets.ts'
import { type Challenge, resultMessage } from '../../core/proof/challenge.ts'
import { openingRanges } from '../../core/proof/openingRanges.ts'
import type { PlannedPart } from '../../core/proof/partKinds.ts'
import type { PlanInputs } from '../../core/proof/planPart.ts'
import type { RejectReason } from '../../core/proof/reasons.ts'
import { partQuery } from '../../core/proof/verifyPart.ts'
import { type OwnTimes, type RunWindow, windowOf } from '../../core/schedule/runWindow.ts'
import type { ChainAnchor } from '../../ports/chainAnchor.ts'
import type { Clock } from '../../ports/clock.ts'
import type { OpeningChecker } from '../../ports/openingChecker.ts'
import type { Randomness } from '../../ports/randomness.ts'
import type { RemoteBox } from '../../ports/remoteBox.ts'
import type { WalkChecker } from '../../ports/walkChecker.ts'
import { checkOpenings } from '../shared/checkOpenings.ts'
import type { InTurn } from '../shared/takeTurns.ts'
import { within } from '../shared/within.ts'
import { type Asking, BoxRun, type Done, type RunState } from './boxRun.ts'
import { type Conducted, Exchange, type Progress } from './exchange.ts'
import { type Greeting, greetProver, type Line, type ProverFault, roundTripUs } from './greetProver.ts'
import { HostParts } from './hostParts.ts'
import { ProverSession, readTelemetry } from './proverSession.ts'

/** What the validator asks for. None of it comes from the box. */
export interface VerifyOptions extends Omit<PlanInputs, 'devices' | 'roundTripSeconds'> {
  /** Largest number of devices to ask; the claim decides what is asked, never what is accepted. */
  readonly maxDevices: number
  readonly claim: string | null
  readonly program: string
  /** How long the certificate says what the box is; 30 days where left out. */
  readonly validSeconds?: number
}

export interface VerifyDeps extends OwnTimes {
  readonly clock: Clock
  readonly randomness: Randomness
  readonly signer: Signer
  readonly checker: OpeningChecker
  readonly catalogue: Catalogue
  /** Judges what the devices' vendors signed (§9); nobody is asked without it. */
  readonly attestation?: AttestationReader
  /** The chain that the run is to be tied to (§10). */
  readonly anchor?: ChainAnchor
  /** Where the rest of the box is to be measured too (§12). */
  readonly walkChecker?: WalkChecker
  connect(signal: AbortSignal): Promise<RemoteBox>
  /** What the certificate says of where the box is; without it, nothing. */
  placeOf?(box: RemoteBox): string | undefined
  /** Which devices `connect` has the prover open, where not all that it finds: the certificate says so. */
  readonly askedDevices?: string | null
  onStep?(step: Step): void
  /** Asked when the prover names its key, before it opens a device, and again when it has signed with it; throws where the key is another box's. */
  takeKey?(key: Uint8Array, isSigned: boolean): Promise<void>
  /** Awaited right before the clock of every phase of the run itself; calibrations do not ask. */
  beforeStart?(moment: Moment): Promise<void>
  /** Where other boxes are on the line: judging keeps the thread busy by whose clock they are measured (attack 249). */
  readonly inTurn?: InTurn
}

/** Where a run stands when a clock is about to start. */
export interface Moment {
  readonly challenge: Challenge
  readonly part: number
  readonly phase: number
}

/** Where a run stands, for people who watch. */
export type Step =
  | { readonly step: 'connect' | 'install' | 'detect' | 'calibrate' | 'check' | 'again' | 'host' }
  | { readonly step: 'lost'; readonly fault: ProverFault }
  | { readonly step: 'detected'; readonly inventory: Inventory; readonly roundTripSeconds: number }
  | { readonly step: 'compute'; readonly progress: Progress; readonly parts: readonly PlannedPart[] }
  | { readonly step: 'verify'; readonly done: number; readonly of: number }

/** What verifying one box leaves behind. */
export interface BoxReport extends Pick<RemoteBox, 'address' | 'access'>, Greeting {
  readonly preset: Preset['name']
  readonly runId: Uint8Array
  /** Claims of the cards during the run. */
  readonly telemetry: readonly unknown[]
  /** What the prover said of devices that failed in mid-run; the judgement is of the others. */
  readonly faults: readonly ProverFault[]
  /** The prover gave up before it could know what would be opened: a fault, though the run is rejected. */
  readonly gaveUp: boolean
  readonly judgement: Judgement
  /** A part that was over in less than half of the time that was asked for, though the preset asks for no more; null where none was. */
  readonly cutShort: { readonly seconds: number; readonly leastSeconds: number } | null
  /** When the judged run took place, by our clock; null where no part of it was finished. */
  readonly window: RunWindow | null
  /** What the devices' vendors vouch for; tier C where nobody attests. */
  readonly attested: AttestedRun
  /** What the box around the devices showed; empty where nobody asked. */
  readonly host: readonly HostPart[]
  /** Which devices the box was asked for; null where for all it has. */
  readonly askedDevices: string | null
  /** The certificate file's text. */
  readonly certificate: string
  readonly startedAt: string
  readonly seconds: number
}

const LONGEST_CLOSE_MS = 40_000

/** A box that cannot be left must not take back what it was found to be (attack 460): the rest of it ends without us. */
async function leave(clock: Clock, close: () => Promise<void>): Promise<void> {
  const closed = Promise.resolve().then(close)
  await within(clock, LONGEST_CLOSE_MS, closed).catch(() => {})
}

/** The main job, from an address to a certificate; whatever happens, the prover is stopped and the box given back. */
export async function verifyBox(options: VerifyOptions, deps: VerifyDeps, signal: AbortSignal): Promise<BoxReport> {
  const { clock, randomness, onStep } = deps
  const startedAt = clock.wallTime().toISOString()
  const startedUs = clock.monotonicUs()
  onStep?.({ step: 'connect' })
  const box = await deps.connect(signal)
  try {
    onStep?.({ step: 'install' })
    await box.install(signal)
    onStep?.({ step: 'detect' })
    const session = new ProverSession(await box.start(signal), clock)
    try {
      const line = { session, clock, randomness, signal }
      const greeting = await greetProver(line, (key) => deps.takeKey?.(key, false))
      const { inventory, roundTripSeconds } = greeting
      onStep?.({ step: 'detected', inventory, roundTripSeconds })
      const host = deps.walkChecker ? new HostParts({ ...line, checker: deps.walkChecker, host: inventory.host }) : null
      await host?.prepare()
      const watching = (step: Step) => {
        host?.watch(step)
        onStep?.(step)
      }
      const verify = (one: Conducted, told?: VerifyDeps['onStep']) =>
        checkOpenings(one, openingRanges(one), { checker: deps.checker, signal }, (done, of) =>
          told?.({ step: 'verify', done, of }),
        )
      const run = new BoxRun({ options, line, verify, onStep: watching })
      const done = await conduct(run, greeting, { ...deps, onStep: watching }, line)
      if (host && !done.rejected) onStep?.({ step: 'host' })
      const walks = host && !done.rejected ? await host.collect() : []
      const rejected = done.rejected ?? (await verify(done, onStep))
      // Last of all: whoever shows no card must not load the threads for which others wait (attack 349).
      const shown = host && !rejected ? await host.check(walks) : []
      const { address, access } = box
      const place = deps.placeOf?.(box)
      const { inTurn = (work) => work() } = deps
      return await inTurn(async () => {
        signal.throwIfAborted()
        const pause = () => clock.sleep(0, signal)
        const telemetry = await readTelemetry(session.telemetry, pause)
        const told = { address, access, place, startedAt, startedUs, host: shown, telemetry, faults: run.faults }
        // Of a forged run too: a certificate that carried a wrong one could be read by nobody (attack 493).
        const isOver = !rejected || done.resultSignature.length > 0
        const unsigned = isOver ? await resultProblem(done, pause) : null
        const resultSignature = unsigned ? new Uint8Array() : done.resultSignature
        return await judge({ ...done, rejected: rejected ?? unsigned, resultSignature }, told, options, deps, pause)
      })
    } finally {
      await leave(clock, () => session.stop())
    }
  } finally {
    await leave(clock, () => box.close())
  }
}

/** Challenge after challenge, until one of them is the last word. */
async function conduct(run: BoxRun, greeting: Greeting, deps: VerifyDeps, line: Line): Promise<Done> {
  let state: RunState = { at: 'plan', greeting }
  while (state.at !== 'over') {
    try {
      state = state.at === 'plan' ? run.plan(state.greeting) : await run.after(state, await ask(state, deps, line))
    } catch (error) {
      state = await run.afterFault(state, error)
    }
  }
  return state.done
}

function ask({ at, greeting, inputs, plan }: Asking, deps: VerifyDeps, line: Line): Promise<Conducted> {
  const isRun = at === 'run' || at === 'again'
  const onProgress = (progress: Progress) => isRun && deps.onStep?.({ step: 'compute', progress, parts: plan })
  const to = { proverKey: greeting.proverKey, deviceCount: inputs.devices.length, signer: deps.signer }
  const exchange = new Exchange({ plan, ...to, anchor: isRun ? deps.anchor : undefined, onProgress }, line)
  const onReady = () => deps.takeKey?.(greeting.proverKey, true)
  if (!isRun) return askParts(exchange, { onReady })
  const attested = greeting.inventory.devices.slice(0, to.deviceCount)
  const evidence = deps.attestation !== undefined && attested.every(attests)
  return askParts(exchange, { onReady, beforeStart: deps.beforeStart, evidence })
}

/** A claim: it decides what is asked. */
const attests = ({ details }: Inventory['devices'][number]): boolean => details.attests === true

interface AskHooks {
  /** The prover has signed with its key. */
  readonly onReady?: () => Promise<void> | undefined
  readonly beforeStart?: VerifyDeps['beforeStart'] | undefined
  readonly evidence?: boolean
}

/** §4: one challenge, part by part; the first rule that is broken ends it. */
export async function askParts(exchange: Exchange, hooks: AskHooks = {}): Promise<Conducted> {
  const { onReady, beforeStart, evidence = false } = hooks
  const { challenge } = exchange
  const before = async (part: number, phase: number) => await beforeStart?.({ challenge, part, phase })
  let rejected = await exchange.askReady() // challenge
  if (!rejected) await onReady?.()
  if (evidence) rejected ??= await exchange.askEvidence()
  for (let p = 0; p < challenge.parts.length && !rejected; p++) {
    await before(p, 0)
    const part = await exchange.start(p) // compute
    rejected = await exchange.collectRoots(part, (phase) => before(p, phase)) // commit
    rejected ??= await exchange.collectOpenings(part) // open
    rejected ??= exchange.keep(part) // verify the roots; the openings follow when the cards are done
  }
  if (evidence) rejected ??= await exchange.askEvidence()
  return exchange.ended(rejected ?? (await exchange.askResult()))
}

/** Every root is hashed for it: part by part, so that others are heard in between. */
async function resultProblem(run: Conducted, pause: () => Promise<void>): Promise<RejectReason | null> {
  const { challenge, parts, resultSignature } = run
  const queries: Uint8Array[] = []
  for (const p of parts.keys()) {
    await pause()
    queries.push(partQuery(run, p))
  }
  const isSigned = checkSignature(resultSignature, resultMessage(challenge, queries), challenge.proverKey)
  return isSigned ? null : { code: 'BAD_RESULT_SIGNATURE' }
}

type Told = Pick<BoxReport, 'address' | 'access' | 'startedAt' | 'host' | 'telemetry' | 'faults'>

/** What the evidence makes of the box, and its certificate. */
async function judge(
  done: Done,
  { startedUs, place, ...report }: Told & { readonly startedUs: number; readonly place: string | undefined },
  { preset, program, validSeconds, ...options }: VerifyOptions,
  { clock, signer, catalogue, attestation: reader, askedDevices = null, heardBy, openedBy }: VerifyDeps,
  pause: () => Promise<void>,
): Promise<BoxReport> {
  const { challenge, parts, rejected, greeting } = done
  const { partSeconds, sustainedSeconds } = options
  const run = { challenge, parts }
  const { inventory } = greeting
  const claim = options.claim === null ? null : plainClaim(options.claim)
  const told = { claim, catalogue, roundTripUs: roundTripUs(greeting) }
  const deviceClasses = inventory.devices.map((device) => device.class)
  const offered = inventory.devices.map(({ precisions }) => precisions)
  const judgement = judgeRun({ run, preset, deviceClasses, offered, rejected, ...told })
  const seconds = (clock.monotonicUs() - startedUs) / 1e6
  const issued = { program, issuedMs: clock.wallTime().getTime(), validSeconds, seconds, preset: preset.name }
  const judged = { run, deviceClasses, atMs: issued.issuedMs, judgement }
  const { attested, carried: attestation } = await judgeEvidence(done, judged, reader, catalogue)
  const evidence = {
    ...done,
    ...report,
    ...issued,
    ...told,
    run,
    inventory,
    judgement,
    attestation,
    place,
    askedDevices,
  }
  const certificate = await issueInSlices(evidence, signer, pause)
  return {
    ...report,
    ...greeting,
    preset: preset.name,
    runId: challenge.runId,
    gaveUp: done.gaveUp !== null,
    judgement,
    attested,
    askedDevices,
    cutShort: cutShort({ run, preset: askedPreset(preset, options), roundTripUs: told.roundTripUs }),
    window: windowOf(
      { run, preset: { ...preset, partSeconds, sustainedSeconds }, roundTripUs: told.roundTripUs },
      done.startedUs,
      { heardBy, openedBy },
    ),
    certificate,
    seconds,
  }
}

function cutShort(timed: Timed): BoxReport['cutShort'] {
  const [short] = shortParts(timed)
  return short ? { seconds: short.elapsedUs / 1e6, leastSeconds: short.leastUs / 1e6 } : null
}

/** §9. What does not hold is told and not passed on: a certificate that carried it would be refused. */
async function judgeEvidence(
  { evidence: [open, close] }: Done,
  judged: Parameters<typeof attestedRun>[1],
  reader: AttestationReader | undefined,
  catalogue: Catalogue,
): Promise<{ readonly attested: AttestedRun; readonly carried?: CarriedEvidence }> {
  if (!reader || !open?.length || !close?.length) return { attested: NOT_ATTESTED }
  const carried = await reader.carry(open, close)
  if ('code' in carried) return { attested: { ...NOT_ATTESTED, refusal: carried } }
  const attested = await attestedRun(carried, judged, reader, catalogue)
  return attested.refusal ? { attested } : { attested, carried }
}

/** As a certificate can hold it. */
const plainClaim = (text: string): string => printable(text.replaceAll('×', 'x'), SHORT_TEXT)
