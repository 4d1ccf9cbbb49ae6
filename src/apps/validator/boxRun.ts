import { askedPreset, isCutByRoots, lengthen, shortParts, timedParts } from '../../core/certificate/shortParts.ts'
import type { Inventory } from '../../core/inventory/inventory.ts'
import { MAX_DEVICES } from '../../core/params/constants.ts'
import type { Precision } from '../../core/params/precision.ts'
import { PRESETS } from '../../core/params/presets.ts'
import type { PlannedPart } from '../../core/proof/partKinds.ts'
import type { PlanInputs, Timings } from '../../core/proof/planPart.ts'
import { chooseSize, planRun, planSizing, planSteadySizing, planTiming } from '../../core/proof/planRun.ts'
import { explainReason, type RejectReason } from '../../core/proof/reasons.ts'
import { timingsOf } from '../../core/proof/timingsOf.ts'
import { TouchstoneError } from '../../ports/errors.ts'
import { fault } from '../shared/faults.ts'
import type { Conducted } from './exchange.ts'
import {
  type Greeting,
  greetLeft,
  type Line,
  type ProverFault,
  proverFault,
  roundTripUs,
  saidIn,
} from './greetProver.ts'
import type { Step, VerifyOptions } from './verifyBox.ts'

/** What is asked next. Two short calibrations come before the run itself, and a run that was over too soon is asked again. */
export interface Asking {
  readonly at: 'sizing' | 'timing' | 'run' | 'again'
  readonly greeting: Greeting
  readonly inputs: PlanInputs
  readonly plan: readonly PlannedPart[]
  /** What the calibration of sizes showed. */
  readonly sizes: Timings
}

export type Done = Conducted & { readonly greeting: Greeting }

/** Where the run on a box stands. */
export type RunState =
  | { readonly at: 'plan'; readonly greeting: Greeting }
  | Asking
  | { readonly at: 'over'; readonly done: Done }

type OnStep = (step: Step) => void

export interface BoxRunInputs {
  readonly options: VerifyOptions
  readonly line: Line
  /** The first opening of a run that does not hold. */
  readonly verify: (run: Conducted, told?: OnStep) => Promise<RejectReason | null>
  readonly onStep: OnStep
}

/** So often a run begins anew without a device that failed: a box must not draw its rates as often as it likes. */
const MOST_FAILED = 3

/**
 * §4.0, §4.3: which challenge follows which. Where the prover says that a device failed before it could know what would
 * be opened, the openings so far are verified and everything begins anew, under a fresh challenge, on the devices left.
 */
export class BoxRun {
  /** What the prover told of devices that failed. */
  readonly faults: ProverFault[] = []
  readonly #inputs: BoxRunInputs
  /** The last run whose clock has run. */
  #begun: Done | null = null

  constructor(inputs: BoxRunInputs) {
    this.#inputs = inputs
  }

  plan(greeting: Greeting): Asking {
    const { options, onStep } = this.#inputs
    const inputs = planInputs(options, greeting)
    onStep({ step: 'calibrate' })
    const first = { greeting, inputs, sizes: new Map() }
    const { preset } = inputs
    if (preset.name === 'tiny') return { ...first, at: 'run', plan: planRun(inputs, () => preset.size, new Map()) }
    const sizing = planSizing(inputs)
    return sizing.length > 0 ? { ...first, at: 'sizing', plan: sizing } : timing(first)
  }

  async after(asking: Asking, conducted: Conducted): Promise<RunState> {
    if (asking.at === 'run' || asking.at === 'again') return await this.#afterRun(asking, conducted)
    return await this.#afterCalibration(asking, conducted)
  }

  /**
   * Its results are discarded. A prover that is slow on purpose here only gets asked for less, and is then judged by what
   * it was asked. One that did not compute what it sent is caught by its openings before the run begins (attack 72).
   */
  async #afterCalibration(asking: Asking, conducted: Conducted): Promise<RunState> {
    const { greeting, inputs } = asking
    const { challenge, parts, rejected, gaveUp } = conducted
    const { verify, onStep } = this.#inputs
    // Not the time of the box, also while others are checked first (attack 356).
    onStep({ step: 'check' })
    const forged = await verify(conducted)
    onStep({ step: 'calibrate' })
    if (forged) {
      const caught = { ...forged, got: 'a calibration that was not computed' }
      return { at: 'over', done: { ...conducted, parts: [], rejected: caught, gaveUp: null, greeting } }
    }
    if (gaveUp) throw proverFault(gaveUp)
    if (rejected) throw fault('CALIBRATION_FAILED', { reason: rejected.code, why: explainReason(rejected) })
    const timings = timingsOf(challenge, parts, inputs.roundTripSeconds)
    if (asking.at === 'sizing') {
      const sized = { ...asking, sizes: new Map([...asking.sizes, ...timings]) }
      const steadier = asking.sizes.size > 0 ? [] : planSteadySizing(inputs, asking.plan, timings)
      return steadier.length > 0 ? { ...sized, plan: steadier } : timing(sized)
    }
    const plan = planRun(inputs, sizeOf(asking), timings)
    if (isCutByRoots(plan, timings, inputs.preset)) throw fault('CARDS_TOO_UNLIKE', { preset: inputs.preset.name })
    return { ...asking, at: 'run', plan }
  }

  async #afterRun(asking: Asking, conducted: Conducted): Promise<RunState> {
    const { greeting, plan } = asking
    const { verify, options, onStep } = this.#inputs
    const done: Done = { ...conducted, greeting }
    this.#begun = done
    // By what was asked: a slow calibration would buy a minute of what should take ten (attack 476).
    const timed = { run: done, preset: askedPreset(options.preset, options), roundTripUs: roundTripUs(greeting) }
    const longer = lengthen(plan, timedParts(timed))
    const grows = ({ part }: { readonly part: number }) => longer[part]!.rounds > plan[part]!.rounds
    const isShort = asking.at === 'run' && !done.rejected && shortParts(timed).some(grows)
    if (!done.gaveUp && !isShort) return { at: 'over', done }
    // Who gives up because an earlier nonce showed that it is caught is rejected for that (attack 57); and a cheat that
    // sees itself caught could end a later part early to have the run forgotten (attack 55).
    const forged = await verify(done, onStep)
    if (forged) return { at: 'over', done: { ...done, rejected: forged, gaveUp: null } }
    if (done.gaveUp) return (await this.#withoutDevice(greeting, done.gaveUp)) ?? { at: 'over', done }
    onStep({ step: 'again' })
    return { ...asking, at: 'again', plan: longer }
  }

  /** Before any clock has run it is a fault; after that a box cannot take back what it showed, not as busy either (attack 61). */
  async afterFault(state: RunState, error: unknown): Promise<RunState> {
    if (!(error instanceof TouchstoneError) || state.at === 'over' || this.#inputs.line.signal.aborted) throw error
    const said = saidIn(error)
    const anew = said && (await this.#withoutDevice(state.greeting, said))
    if (anew) return anew
    if (this.#begun === null || (error.blame !== 'prover' && error.blame !== 'network')) throw error
    return { at: 'over', done: this.#begun }
  }

  async #withoutDevice(before: Greeting, said: ProverFault): Promise<RunState | null> {
    const { line, onStep } = this.#inputs
    this.faults.push(said)
    // Of one device nothing is left, and a box that has nothing more to say must not be waited for.
    if (this.faults.length > MOST_FAILED || before.inventory.devices.length < 2) return null
    // What it takes to answer is its own time, not that of our checks before (attack 373).
    onStep({ step: 'detect' })
    const left = await greetLeft(before, line)
    if (left === null) return null
    onStep({ step: 'lost', fault: said })
    return { at: 'plan', greeting: left }
  }
}

/** §4.0: one k for all devices of a run, so it asks the first devices, as far as they are of one class (attack 41). */
function askedDevices({ devices }: Inventory, most: number): Inventory['devices'] {
  const [first] = devices
  if (!first) throw fault('NO_DEVICES')
  const other = devices.findIndex((device) => device.class !== first.class)
  return devices.slice(0, Math.min(most, other < 0 ? devices.length : other))
}

/** Of all devices, in each part: with more the certificate is larger than anybody reads (attack 496). */
const MOST_OPENINGS = MAX_DEVICES * PRESETS.mainnet.openings

/** What the devices are asked: sizes and precisions follow from what they claim, never what is accepted. */
function planInputs(options: VerifyOptions, { inventory, roundTripSeconds }: Greeting): PlanInputs {
  const devices = askedDevices(inventory, options.maxDevices)
  const most = Math.floor(MOST_OPENINGS / devices.length)
  if (options.openings > most)
    throw fault('TOO_MANY_OPENINGS', { openings: options.openings, devices: devices.length, most })
  // What a card cannot do is unsupported, not failed: only what every device claims is asked.
  const precisions = options.precisions.filter((precision) =>
    devices.every((device) => device.precisions.includes(precision)),
  )
  // A box that claims no precision would have nothing to fail (attack 42), or no part that has to last (attack 486).
  const wantsRounds = options.precisions.length > 0 || (!options.memory && !options.bind)
  if (precisions.length === 0 && wantsRounds) throw fault('NOTHING_TO_ASK')
  return { ...options, devices, precisions, roundTripSeconds }
}

type Calibrating = Pick<Asking, 'greeting' | 'inputs' | 'sizes'>

const sizeOf = ({ inputs, sizes }: Calibrating) => {
  const sizing = planSizing(inputs)
  return (precision: Precision) => chooseSize(inputs, precision, sizing, sizes)
}

const timing = (asking: Calibrating): Asking => ({
  ...asking,
  at: 'timing',
  plan: planTiming(asking.inputs, sizeOf(asking)),
})
