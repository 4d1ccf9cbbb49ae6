import type { Precision } from '../params/precision.ts'
import type { Preset } from '../params/presets.ts'
import type { Part } from './challenge.ts'
import { classK, keptRounds, largestSize, memorySize, type SizedDevice } from './sizeClass.ts'

/** A part before its nonce is drawn. */
export type PlannedPart = Omit<Part, 'nonceHash'>

export interface PlanInputs {
  readonly preset: Preset
  readonly devices: readonly SizedDevice[]
  readonly precisions: readonly Precision[]
  readonly memory: boolean
  readonly bind: boolean
  readonly openings: number
  readonly partSeconds: number
  readonly sustainedSeconds: number
  /** The user's cap on m = n. */
  readonly maxSize: number
  readonly roundTripSeconds: number
}

/** Seconds one round (or pass, or fill round) took in a calibration run, fastest and slowest device, by part key. */
export type Timings = ReadonlyMap<string, { readonly fastest: number; readonly slowest: number }>

/** §4.0. A round should stay under this, so that roots keep coming. */
const LONGEST_ROUND_SECONDS = 0.2

const all = (devices: readonly unknown[]): number => 2 ** devices.length - 1

export const partKey = (part: Pick<PlannedPart, 'kind' | 'precision'>): string => `${part.kind} ${part.precision}`

const powerOfTwoBelow = (size: number): number => 2 ** Math.floor(Math.log2(size))

const fits = (inputs: PlanInputs, precision: Precision, k: number): number =>
  Math.min(
    powerOfTwoBelow(inputs.maxSize),
    ...inputs.devices.map((device) => largestSize(inputs.preset, device.class, precision, k, 0.9 * device.freeBytes)),
  )

/** Of each device in each part: a calibration of which half was not computed is caught in 255 of 256 cases by one part. */
const CALIBRATION_OPENINGS = 8

function blank(inputs: PlanInputs, kind: Part['kind'], precision: Precision, size: number): PlannedPart {
  const k = classK(inputs.preset, inputs.devices[0]!.class, kind, precision)
  const kept = inputs.devices.map(() => 0)
  const limits = { limitMs: 120_000, openLimitMs: 120_000 }
  return {
    kind,
    precision,
    m: size,
    n: size,
    k,
    rounds: 2,
    openings: CALIBRATION_OPENINGS,
    mask: all(inputs.devices),
    kept,
    ...limits,
  }
}

/** First calibration: small products, only to choose the size class. Its results are discarded. */
export function planSizing(inputs: PlanInputs): PlannedPart[] {
  const smallest = inputs.devices.some((device) => device.class === 'cpu') ? 128 : 8192
  return inputs.precisions.map((precision) => {
    const part = blank(inputs, 'rounds', precision, smallest)
    return {
      ...part,
      m: Math.min(smallest, fits(inputs, precision, part.k)),
      n: Math.min(smallest, fits(inputs, precision, part.k)),
    }
  })
}

/** §4.0. The largest m = n that fits free memory and keeps a round under 200 ms. */
export function chooseSize(
  inputs: PlanInputs,
  precision: Precision,
  sizing: readonly PlannedPart[],
  timings: Timings,
): number {
  const part = sizing.find((candidate) => candidate.precision === precision)!
  const seconds = timings.get(partKey(part))!.slowest
  let size = fits(inputs, precision, part.k)
  while (size > part.m && seconds * (size / part.m) ** 2 > LONGEST_ROUND_SECONDS) size /= 2
  return size
}

/** Enough that one held-up root does not decide how long a part is. */
const TIMED_ROUNDS = 4

/** A pass over a few megabytes measures the threads of a CPU waking up, not its memory; rounds of a card are large. */
const timedFill = (device: SizedDevice): number => (device.class === 'cpu' ? 48 : 16)

/** A card reads so small a fill in milliseconds, and roots come together over a network: a few of its passes say nothing. */
const timedPasses = ({ devices }: PlanInputs): number =>
  devices.some((device) => device.class === 'gpu') ? 24 : TIMED_ROUNDS

/** Second calibration, at the chosen sizes: how many rounds and passes fill the wanted time. Discarded too. */
export function planTiming(inputs: PlanInputs, size: (precision: Precision) => number): PlannedPart[] {
  const parts = inputs.precisions.map((precision) => ({
    ...blank(inputs, 'rounds', precision, size(precision)),
    rounds: TIMED_ROUNDS,
  }))
  if (inputs.memory) parts.push(timedMemory(inputs))
  if (inputs.bind) parts.push({ ...blank(inputs, 'bind', 'int8', bindSize(inputs, size)), rounds: TIMED_ROUNDS })
  return parts
}

function timedMemory(inputs: PlanInputs): PlannedPart {
  const part = memoryPart(inputs)
  const kept = inputs.devices.map((device, d) => Math.min(part.kept[d]!, timedFill(device)))
  return { ...part, kept, rounds: timedPasses(inputs) }
}

const bindSize = (inputs: PlanInputs, size: (precision: Precision) => number): number =>
  inputs.precisions.includes('int8') ? size('int8') : fits(inputs, 'int8', 2048)

function memoryPart(inputs: PlanInputs): PlannedPart {
  const k = classK(inputs.preset, inputs.devices[0]!.class, 'memory', 'int8')
  const size = Math.min(...inputs.devices.map((device) => memorySize(inputs.preset, device, k)))
  const kept = inputs.devices.map((device) => keptRounds(inputs.preset, device, size, k))
  return { ...blank(inputs, 'memory', 'int8', size), kept }
}

/** The run itself: every precision, sustained, memory, link, bind, and each device alone where there are several. */
export function planRun(inputs: PlanInputs, size: (precision: Precision) => number, timings: Timings): PlannedPart[] {
  const rounds = (part: PlannedPart, seconds: number) => timed(inputs, part, seconds, timings)
  const parts = inputs.precisions.map((precision) =>
    rounds(blank(inputs, 'rounds', precision, size(precision)), inputs.partSeconds),
  )
  const sustained = inputs.precisions.includes('bf16') ? 'bf16' : inputs.precisions[0]
  if (inputs.sustainedSeconds > 0 && sustained)
    parts.push(rounds(blank(inputs, 'rounds', sustained, size(sustained)), inputs.sustainedSeconds))
  if (inputs.memory) parts.push(...memoryParts(inputs, timings))
  if (inputs.bind) parts.push(rounds(blank(inputs, 'bind', 'int8', bindSize(inputs, size)), inputs.partSeconds))
  return [...parts, ...aloneParts(inputs, parts)]
}

/** §8. Alone runs of the first precision: scaling is the rates together over the rates alone. */
function aloneParts(inputs: PlanInputs, parts: readonly PlannedPart[]): PlannedPart[] {
  const first = parts[0]
  if (inputs.devices.length < 2 || first?.kind !== 'rounds') return []
  return inputs.devices.map((_, device) => ({
    ...first,
    mask: 2 ** device,
    rounds: Math.max(inputs.preset.leastRounds, Math.ceil(first.rounds / 3)),
  }))
}

function memoryParts(inputs: PlanInputs, timings: Timings): PlannedPart[] {
  const planned = memoryPart(inputs)
  const fill = timings.get('fill')
  const part = { ...planned, kept: planned.kept.map((kept, device) => affordable(inputs, device, kept, fill?.slowest)) }
  const pass = timings.get('pass byte')
  const bytes = Math.max(...part.kept) * part.m * part.n * 2
  // A CPU's caches make a short calibration of its memory uncertain; the passes must not be over too soon.
  const certain = inputs.devices.some((device) => device.class === 'cpu') ? 2 : 1
  const wanted = Math.max(
    certain * inputs.preset.passSeconds,
    inputs.preset.secure ? PASS_ROUND_TRIPS * inputs.roundTripSeconds : 0,
  )
  const passes = plannedRounds(
    pass && wanted > 0 ? Math.ceil(wanted / (pass.fastest * bytes)) : inputs.preset.fixedPasses,
    inputs,
  )
  const expected = (fill?.slowest ?? 1) * Math.max(...part.kept) + (pass?.slowest ?? 0) * bytes * passes
  const memory = {
    ...part,
    rounds: passes,
    openings: inputs.openings,
    limitMs: limitFor(expected, LONGEST_FILL_SECONDS),
  }
  if (inputs.devices.length < 2) return [memory]
  const link = {
    ...memory,
    kind: 'link' as const,
    kept: inputs.devices.map(() => 0),
    rounds: Math.max(inputs.preset.leastRounds, Math.ceil(passes / 4)),
  }
  return [memory, link]
}

/** §7 asks for 50; a quarter more, as 2.5 s are wanted where 2 are asked. */
const PASS_ROUND_TRIPS = 62.5

/** A CPU fills slowly, and its memory proves little: a few seconds are enough. A card is always filled. */
const CPU_FILL_SECONDS = 4

const affordable = (inputs: PlanInputs, device: number, kept: number, secondsPerRound: number | undefined): number =>
  inputs.devices[device]!.class === 'cpu' && secondsPerRound !== undefined
    ? Math.max(2, Math.min(kept, Math.floor(CPU_FILL_SECONDS / secondsPerRound)))
    : kept

function timed(inputs: PlanInputs, part: PlannedPart, seconds: number, timings: Timings): PlannedPart {
  const gap = timings.get(partKey(part))
  const rounds = plannedRounds(
    gap && seconds > 0 ? Math.ceil(seconds / gap.fastest) : inputs.preset.fixedRounds,
    inputs,
  )
  const limitMs = limitFor(rounds * (gap?.slowest ?? 1), 60 + 10 * seconds)
  return { ...part, rounds, openings: inputs.openings, limitMs, openLimitMs: limitMs }
}

/** Roots of one part over all devices. More would fill our memory, and the certificate, with what costs a liar nothing. */
const MOST_ROOTS = 2 ** 15

/** A calibration of two roots in one packet must not buy a part of a million rounds (attack 44). */
export const boundedRounds = (rounds: number, devices: number): number =>
  Math.min(rounds, Math.floor(MOST_ROOTS / devices))

const plannedRounds = (wanted: number, { preset, devices }: PlanInputs): number =>
  boundedRounds(Math.max(preset.leastRounds, wanted), devices.length)

/** §4.1 has 32 bits for a limit, and a timer of Node 31. */
const LONGEST_LIMIT_MS = 2 ** 31 - 1

/** The slowest fill of a card that we wait for. */
const LONGEST_FILL_SECONDS = 300

/**
 * Far above what an honest box needs, far below for ever: the rate is what judges speed, the limit only ends a wait.
 * `most` is ours: a box that was slow in the calibration does not buy days of our time (attack 44).
 */
const limitFor = (expectedSeconds: number, most: number): number =>
  Math.min(LONGEST_LIMIT_MS, Math.ceil(60_000 + 5_000 * Math.min(expectedSeconds, most)))
