import type { Signer } from '../../core/bytes/ed25519.ts'
import { printable } from '../../core/bytes/printable.ts'
import { issueCertificate } from '../../core/certificate/issueCertificate.ts'
import { type Judgement, judgeRun } from '../../core/certificate/judgeRun.ts'
import type { Catalogue } from '../../core/identify/catalogue.ts'
import type { HostPart } from '../../core/inventory/hostReport.ts'
import type { Inventory } from '../../core/inventory/inventory.ts'
import type { Precision } from '../../core/params/precision.ts'
import type { Preset } from '../../core/params/presets.ts'
import type { Challenge } from '../../core/proof/challenge.ts'
import type { PlannedPart } from '../../core/proof/partKinds.ts'
import type { Run } from '../../core/proof/verifyPart.ts'
import { type RunWindow, windowOf } from '../../core/schedule/runWindow.ts'
import type { Clock } from '../../ports/clock.ts'
import type { OpeningChecker } from '../../ports/openingChecker.ts'
import type { Randomness } from '../../ports/randomness.ts'
import type { RemoteBox } from '../../ports/remoteBox.ts'
import type { WalkChecker } from '../../ports/walkChecker.ts'
import { greetProver, roundTripUs as roundTripUsOf } from './greetProver.ts'
import { HostParts } from './hostParts.ts'
import type { Progress } from './partConductor.ts'
import { ProverSession } from './proverSession.ts'
import { readTelemetry } from './readTelemetry.ts'
import type { ProverFault } from './rejection.ts'
import { runOnDevices } from './runOnDevices.ts'
import { verifyAll } from './verifyAll.ts'

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
  /** How long the certificate says what the box is; 30 days where left out. */
  readonly validSeconds?: number
}

export interface VerifyDeps {
  readonly clock: Clock
  readonly randomness: Randomness
  readonly signer: Signer
  readonly checker: OpeningChecker
  readonly catalogue: Catalogue
  /** Where the rest of the box is to be measured too (§12). */
  readonly walkChecker?: WalkChecker
  connect(signal: AbortSignal): Promise<RemoteBox>
  onStep?(step: Step): void
  /** Awaited right before every part of the run itself; calibrations do not ask. */
  beforeStart?(part: number, challenge: Challenge): Promise<void>
}

/** Where a run stands, for people who watch. */
export type Step =
  | { readonly step: 'connect' | 'install' | 'detect' | 'calibrate' | 'again' | 'host' }
  | { readonly step: 'lost'; readonly fault: ProverFault }
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
  /** What the prover said of devices that failed in mid-run; the judgement is of the others. */
  readonly faults: readonly ProverFault[]
  readonly judgement: Judgement
  /** When the judged run took place, by our clock; null where no part of it was finished. */
  readonly window: RunWindow | null
  /** What the box around the devices showed; empty where nobody asked. */
  readonly host: readonly HostPart[]
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
    const host = await hostParts(session, greeting.inventory, deps, signal)
    const conducted = await runOnDevices({ options, greeting, session }, host.watching, signal) // challenge, compute, commit, open
    const { inventory, proverKey } = conducted.greeting
    const run: Run = { challenge: conducted.challenge, parts: conducted.parts }
    const shown = conducted.rejected ? [] : await host.finish()
    const rejected = conducted.rejected ?? (await verifyAll(run, deps, signal)) // verify
    const deviceClasses = inventory.devices.map((device) => device.class)
    const { preset, program, validSeconds } = options
    const roundTripUs = roundTripUsOf(conducted.greeting)
    const claim = options.claim === null ? null : plainClaim(options.claim)
    const offered = inventory.devices.map(({ precisions }) => precisions)
    const asked = { run, preset, deviceClasses, offered, catalogue, claim, roundTripUs, rejected }
    const judgement = judgeRun(asked) // identify
    const seconds = (clock.monotonicUs() - startedUs) / 1e6
    const issuedMs = clock.wallTime().getTime()
    const telemetry = readTelemetry(session.telemetry)
    const judged = { preset: preset.name, claim, inventory, telemetry, judgement, catalogue, roundTripUs }
    const certificate = issueCertificate(
      { ...conducted, run, program, issuedMs, validSeconds, seconds, ...judged },
      signer,
    )
    const { address, access } = box
    const { runId } = run.challenge
    return {
      address,
      access,
      preset: preset.name,
      proverKey,
      runId,
      inventory,
      roundTripSeconds: conducted.greeting.roundTripSeconds,
      telemetry,
      faults: conducted.faults,
      judgement,
      window: windowOf(run.challenge, run.parts, conducted.startedUs),
      host: shown,
      certificate,
      startedAt,
      seconds,
    }
  })
}

/** §12: the box around the devices, where it is to be measured. `watching` is what the run is told to report to. */
async function hostParts(session: ProverSession, { host }: Inventory, deps: VerifyDeps, signal: AbortSignal) {
  const { walkChecker: checker, clock, randomness, onStep } = deps
  if (!checker) return { watching: deps, finish: async () => [] }
  const parts = new HostParts({ session, checker, clock, randomness, host }, signal)
  await parts.prepare()
  const watching: VerifyDeps = {
    ...deps,
    onStep: (step) => {
      parts.watch(step)
      onStep?.(step)
    },
  }
  const finish = () => {
    onStep?.({ step: 'host' })
    return parts.finish()
  }
  return { watching, finish }
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

/** As a certificate can hold it. */
const plainClaim = (text: string): string => printable(text.replaceAll('×', 'x'), 117)
