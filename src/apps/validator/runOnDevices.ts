import { equalBytes } from '../../core/bytes/bytes.ts'
import { canonicalJson } from '../../core/bytes/canonicalJson.ts'
import { lengthen, shortParts, timedParts } from '../../core/certificate/shortParts.ts'
import type { Inventory } from '../../core/inventory/inventory.ts'
import type { Preset } from '../../core/params/presets.ts'
import type { Challenge } from '../../core/proof/challenge.ts'
import type { PlannedPart } from '../../core/proof/partKinds.ts'
import { TouchstoneError } from '../../ports/errors.ts'
import { calibrate } from './calibrate.ts'
import type { ConductedRun } from './conductRun.ts'
import { type Greeting, greetProver, roundTripUs } from './greetProver.ts'
import type { Progress } from './partConductor.ts'
import { planInputs } from './planInputs.ts'
import type { ProverSession } from './proverSession.ts'
import type { ProverFault } from './rejection.ts'
import { type ChallengeInputs, runChallenge } from './runChallenge.ts'
import { verifyAll } from './verifyAll.ts'
import type { VerifyDeps, VerifyOptions } from './verifyBox.ts'

export interface DevicesRun {
  readonly options: VerifyOptions
  readonly greeting: Greeting
  readonly session: ProverSession
}

type Done = ConductedRun & { readonly challenge: Challenge; readonly greeting: Greeting }
type Line = Omit<ChallengeInputs, 'plan' | 'onProgress' | 'beforeStart'>

/** What has happened so far: the faults a prover told, and the last run whose clock has run. */
interface Past {
  readonly faults: ProverFault[]
  begun: Done | null
}

/** So often a run begins anew without a device that failed: a box must not draw its rates as often as it likes. */
const MOST_FAILED = 3

/**
 * §4.3: a run on all devices. Where the prover says that a device failed before it could know what would be opened, the
 * openings so far are verified and everything begins anew, under a fresh challenge, on the devices that are left.
 */
export async function runOnDevices(
  { options, greeting, session }: DevicesRun,
  deps: VerifyDeps,
  signal: AbortSignal,
): Promise<Done & { readonly faults: readonly ProverFault[] }> {
  const past: Past = { faults: [], begun: null }
  const { faults } = past
  for (let now = greeting; ; ) {
    const { done, fault } = await attempt({ options, greeting: now, session }, past, deps, signal)
    if (fault) faults.push(fault)
    const left = fault && faults.length <= MOST_FAILED ? await greetLeft(now, session, deps, signal) : null
    if (left === null) return { ...(await done()), faults }
    deps.onStep?.({ step: 'lost', fault: fault! })
    now = left
  }
}

/** How it ended, and why the prover gave up if it did; whether that is the last word is for the caller. */
async function attempt(
  { options, greeting, session }: DevicesRun,
  past: Past,
  deps: VerifyDeps,
  signal: AbortSignal,
): Promise<{ readonly done: () => Promise<Done>; readonly fault: ProverFault | null }> {
  const { signer, clock, randomness } = deps
  try {
    const inputs = planInputs(options, greeting)
    const { proverKey } = greeting
    const line = { session, proverKey, deviceCount: inputs.devices.length, signer, clock, randomness }
    deps.onStep?.({ step: 'calibrate' })
    const calibrated = await calibrate(line, inputs, deps, signal)
    if ('caught' in calibrated) return { done: async () => ({ ...calibrated.caught, greeting }), fault: null }
    const { plan } = calibrated
    const begun = (run: Omit<Done, 'greeting'>): Done => {
      past.begun = { ...run, greeting }
      return past.begun
    }
    const done = await runLongEnough({ line, plan, preset: options.preset, begun }, deps, signal)
    return { done: async () => done, fault: done.gaveUp }
  } catch (error) {
    if (!(error instanceof TouchstoneError) || signal.aborted) throw error
    return { done: () => withdrawn(error, past), fault: saidBy(error) }
  }
}

/** Before any clock has run it is a fault; after that a box cannot take back what it showed, not as busy either (attack 61). */
async function withdrawn(error: TouchstoneError, { begun }: Past): Promise<Done> {
  if (begun === null || (error.blame !== 'prover' && error.blame !== 'network')) throw error
  return begun
}

function saidBy({ detail: { code, prover, said } }: TouchstoneError): ProverFault | null {
  return code === 'PROVER_FAULT' ? { code: String(prover), text: String(said) } : null
}

/** What is left of the box, or null: the prover has gone, has become another, or has not become smaller. */
async function greetLeft(
  before: Greeting,
  session: ProverSession,
  { clock, randomness }: VerifyDeps,
  signal: AbortSignal,
): Promise<Greeting | null> {
  // Of one device nothing is left, and a box that has nothing more to say must not be waited for.
  if (before.inventory.devices.length < 2) return null
  try {
    const left = await greetProver(session, clock, randomness, signal)
    const same = isLeftOf(left.inventory, before.inventory) && equalBytes(left.proverKey, before.proverKey)
    if (!same) return null
    session.forgetTelemetry() // the devices have other numbers now
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

/** §4.0: a run with a part that was over too soon is done once more, longer, under a fresh challenge. */
async function runLongEnough({ line, plan, preset, begun }: Lengthened, deps: VerifyDeps, signal: AbortSignal) {
  const gate = deps.beforeStart ? { beforeStart: deps.beforeStart } : {}
  const run = async (parts: readonly PlannedPart[]): Promise<Done> => {
    const onProgress = (progress: Progress) => deps.onStep?.({ step: 'compute', progress, parts })
    const done = begun(await runChallenge({ ...line, plan: parts, onProgress, ...gate }, signal))
    return begun(await checkedIfGivenUp(done, deps, signal))
  }
  const first = await run(plan)
  const timed = { run: first, preset, roundTripUs: roundTripUs(first.greeting) }
  if (first.rejected || shortParts(timed).length === 0) return first
  // A cheat that sees itself caught could end a later part early to have the run forgotten (attack 55).
  const rejected = await verifyAll(first, deps, signal)
  if (rejected) return { ...first, rejected }
  deps.onStep?.({ step: 'again' })
  return await run(lengthen(plan, timedParts(timed)))
}

interface Lengthened {
  readonly line: Line
  readonly plan: readonly PlannedPart[]
  readonly preset: Preset
  /** Told of every run from the moment its clock has run. */
  begun(run: Omit<Done, 'greeting'>): Done
}

/** Who gives up because an earlier nonce showed that it is caught is rejected for that (attack 57). */
async function checkedIfGivenUp(done: Done, deps: VerifyDeps, signal: AbortSignal): Promise<Done> {
  const rejected = done.gaveUp ? await verifyAll(done, deps, signal) : null
  return rejected ? { ...done, rejected, gaveUp: null } : done
}
