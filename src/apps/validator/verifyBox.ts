import type { Signer } from '../../core/bytes/ed25519.ts'
import { printable } from '../../core/bytes/printable.ts'
import { issueCertificate } from '../../core/certificate/issueCertificate.ts'
import { type Judgement, judgeRun } from '../../core/certificate/judgeRun.ts'
import { lengthen, shortParts, timedParts } from '../../core/certificate/shortParts.ts'
import type { Catalogue } from '../../core/identify/catalogue.ts'
import type { Precision } from '../../core/params/precision.ts'
import type { Preset } from '../../core/params/presets.ts'
import { openingRanges } from '../../core/proof/openingRanges.ts'
import type { PlanInputs, PlannedPart } from '../../core/proof/planRun.ts'
import type { Run } from '../../core/proof/verifyPart.ts'
import type { Inventory } from '../../core/wire/inventory.ts'
import type { Clock } from '../../ports/clock.ts'
import type { OpeningChecker } from '../../ports/openingChecker.ts'
import type { Randomness } from '../../ports/randomness.ts'
import type { RemoteBox } from '../../ports/remoteBox.ts'
import { calibrate } from './calibrate.ts'
import type { Progress } from './conductRun.ts'
import { type Greeting, greetProver } from './greetProver.ts'
import { ProverSession } from './proverSession.ts'
import { readTelemetry } from './readTelemetry.ts'
import { type ChallengeInputs, runChallenge } from './runChallenge.ts'
import { noDevices, nothingToAsk } from './verifyFaults.ts'

/** What the validator asks for. None of it comes from the box. */
export interface VerifyOptions {
  readonly preset: Preset
  readonly precisions: readonly Precision[]
  readonly openings: number
  readonly partSeconds: number
  readonly sustainedSeconds: number
  readonly maxSize: number
  readonly memory: boolean
  readonly bind: boolean
  /** Largest number of devices to ask; the claim decides what is asked, never what is accepted. */
  readonly maxDevices: number
  readonly claim: string | null
  readonly program: string
}

export interface VerifyDeps {
  readonly clock: Clock
  readonly randomness: Randomness
  readonly signer: Signer
  readonly checker: OpeningChecker
  readonly catalogue: Catalogue
  connect(signal: AbortSignal): Promise<RemoteBox>
  onStep?(step: Step): void
}

/** Where a run stands, for people who watch. */
export type Step =
  | { readonly step: 'connect' | 'install' | 'detect' | 'calibrate' | 'again' }
  | { readonly step: 'detected'; readonly inventory: Inventory; readonly roundTripSeconds: number }
  | { readonly step: 'compute'; readonly progress: Progress; readonly parts: readonly PlannedPart[] }
  | { readonly step: 'verify'; readonly done: number; readonly of: number }

/** What verifying one box leaves behind. */
export interface BoxReport {
  readonly address: string
  readonly access: Readonly<Record<string, string>>
  readonly preset: Preset['name']
  readonly proverKey: Uint8Array
  readonly runId: Uint8Array
  readonly inventory: Inventory
  /** Shortest of a few, through the whole connection and by our clock: a box can make it longer, never shorter. */
  readonly roundTripSeconds: number
  /** Claims of the cards during the run. */
  readonly telemetry: readonly unknown[]
  readonly judgement: Judgement
  /** The certificate file's text. */
  readonly certificate: string
  readonly startedAt: string
  readonly seconds: number
}

/** The main job: connect, install, detect, challenge, compute, commit, open, verify, identify; the report is the outcome. */
export async function verifyBox(options: VerifyOptions, deps: VerifyDeps, signal: AbortSignal): Promise<BoxReport> {
  const { clock, randomness, signer, catalogue } = deps
  const startedAt = clock.wallTime().toISOString()
  const startedUs = clock.monotonicUs()
  return await withProver(deps, signal, async (box, session) => {
    const greeting = await greetProver(session, clock, randomness, signal) // detect
    deps.onStep?.({ step: 'detected', inventory: greeting.inventory, roundTripSeconds: greeting.roundTripSeconds })
    const inputs = planInputs(options, greeting)
    const { proverKey, inventory } = greeting
    const line = { session, proverKey, deviceCount: inputs.devices.length, signer, clock, randomness }
    deps.onStep?.({ step: 'calibrate' })
    const plan = await calibrate(line, inputs, signal)
    const conducted = await runLongEnough(line, plan, options.preset, deps, signal) // challenge, compute, commit, open
    const run: Run = { challenge: conducted.challenge, parts: conducted.parts }
    const rejected = conducted.rejected ?? (await verifyAll(run, deps, signal)) // verify
    const kinds = inventory.devices.map(({ kind }) => kind)
    const { preset, program } = options
    const claim = options.claim === null ? null : plainClaim(options.claim)
    const judgement = judgeRun({ run, preset, kinds, catalogue, claim, rejected }) // identify
    const issuedAt = clock.wallTime().toISOString()
    const telemetry = readTelemetry(session.telemetry)
    const certificate = issueCertificate(
      { ...conducted, run, program, issuedAt, preset: preset.name, claim, inventory, telemetry, judgement },
      signer,
    )
    const { address, access } = box
    const { runId } = run.challenge
    const seconds = (clock.monotonicUs() - startedUs) / 1e6
    return {
      address,
      access,
      preset: preset.name,
      proverKey,
      runId,
      inventory,
      roundTripSeconds: greeting.roundTripSeconds,
      telemetry,
      judgement,
      certificate,
      startedAt,
      seconds,
    }
  })
}

/** Connect, install, start; whatever happens, the prover is stopped and the box given back. */
async function withProver<T>(
  deps: VerifyDeps,
  signal: AbortSignal,
  work: (box: RemoteBox, session: ProverSession) => Promise<T>,
): Promise<T> {
  deps.onStep?.({ step: 'connect' })
  const box = await deps.connect(signal)
  try {
    deps.onStep?.({ step: 'install' })
    await box.install(signal)
    deps.onStep?.({ step: 'detect' })
    const session = new ProverSession(await box.start(signal), deps.clock)
    try {
      return await work(box, session)
    } finally {
      await session.stop()
    }
  } finally {
    await box.close()
  }
}

/** §4.0: a run with a part that was over too soon is done once more, longer, under a fresh challenge. */
async function runLongEnough(
  line: Omit<ChallengeInputs, 'plan' | 'onProgress'>,
  plan: readonly PlannedPart[],
  preset: Preset,
  deps: VerifyDeps,
  signal: AbortSignal,
) {
  const run = (parts: readonly PlannedPart[]) => {
    const onProgress = (progress: Progress) => deps.onStep?.({ step: 'compute', progress, parts })
    return runChallenge({ ...line, plan: parts, onProgress }, signal)
  }
  const first = await run(plan)
  if (first.rejected || shortParts(preset, first).length === 0) return first
  // A cheat that sees itself caught could end a later part early to have the run forgotten (attack 55).
  const rejected = await verifyAll(first, deps, signal)
  if (rejected) return { ...first, rejected }
  deps.onStep?.({ step: 'again' })
  return await run(lengthen(plan, timedParts(preset, first)))
}

/** As a certificate can hold it. */
const plainClaim = (text: string): string => printable(text.replaceAll('×', 'x'), 117)

/** §4.0: one k for all devices of a run, so it asks the first devices, as far as they are of one kind (attack 41). */
function askedDevices({ devices }: Inventory, most: number): Inventory['devices'] {
  const [first] = devices
  if (!first) throw noDevices()
  const other = devices.findIndex(({ kind }) => kind !== first.kind)
  return devices.slice(0, Math.min(most, other < 0 ? devices.length : other))
}

function planInputs(options: VerifyOptions, { inventory, roundTripSeconds }: Greeting): PlanInputs {
  const devices = askedDevices(inventory, options.maxDevices)
  const { preset, memory, bind, openings, partSeconds, sustainedSeconds, maxSize } = options
  // What a card cannot do is unsupported, not failed: only what every device claims is asked.
  const precisions = options.precisions.filter((precision) =>
    devices.every((device) => device.precisions.includes(precision)),
  )
  if (precisions.length === 0 && !memory && !bind) throw nothingToAsk()
  return {
    preset,
    devices,
    precisions,
    memory,
    bind,
    openings,
    partSeconds,
    sustainedSeconds,
    maxSize,
    roundTripSeconds,
  }
}

async function verifyAll(run: Run, { checker, onStep }: VerifyDeps, signal: AbortSignal) {
  const ranges = openingRanges(run)
  const of = ranges.reduce((sum, { from, to }) => sum + to - from, 0)
  let done = 0
  const onDone = (openings: number) => {
    done += openings
    onStep?.({ step: 'verify', done, of })
  }
  return await checker.check(run, ranges, onDone, signal)
}
