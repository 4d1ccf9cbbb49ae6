import { isWhole, type PartKind, type PartShape, type Phase } from '../part.ts'
import { calibrationPart, limitFor, type PlanInputs, plannedRounds, TIMED_ROUNDS, type Timings } from '../planPart.ts'
import { classK, keptRounds, memorySize, type SizedDevice } from '../sizeClass.ts'
import { overFill, passes } from './fill.ts'
import { isLinked, linkOver } from './link.ts'

type MemoryPart = PartShape<'memory' | 'memories', 'int8'>

const peerOf = (_: PartShape, device: number): number => device

/** The timed passes of a secure preset last at least this long, so that the way of the last root is little of it. */
const LEAST_PASS_SECONDS = 2
const LEAST_PASS_ROUND_TRIPS = 50

const filling: Phase = {
  name: 'rounds',
  roots: ({ kept }, device) => kept[device]!,
  task: ({ m, n, k, kept }, device, _word, seed) => ({ fill: { m, n, k, seed, kept: kept[device]! } }),
  timing: () => ({ key: 'fill', units: 1 }),
}

const own = (joint: boolean) => ({ fill: (_: readonly PartShape[], p: number) => p, peerOf, tilesCounted: 2, joint })

/** §7: the memory is filled with rounds, then read in passes that nobody could foresee. */
export const memory: PartKind<PartShape<'memory', 'int8'>> = {
  ...overFill(own(false)),
  name: 'memory',
  phases: [filling, passes(own(false))],
  leastUs: (_, { passSeconds }, roundTripUs) =>
    passSeconds > 0 ? Math.max(LEAST_PASS_SECONDS * 1e6, LEAST_PASS_ROUND_TRIPS * roundTripUs) : 0,
  plan: (inputs, _, timings) => {
    if (!inputs.memory) return []
    if (!timings) return [timed(inputs)]
    const part = lasting(inputs, timings)
    return isLinked(inputs) ? [part, linkOver(part, inputs)] : [part]
  },
}

/**
 * §7: the memories of several devices, read together. Where each read its own as it came to it, a card with room for one of
 * them served them in turns, and brought each up from its host once (attack 465).
 */
export const memories: PartKind<PartShape<'memories', 'int8'>> = {
  ...overFill(own(true)),
  name: 'memories',
  phases: [filling, passes(own(true))],
  refuse: (parts, p) => (isWhole(parts[p]!) && parts[p]!.kept.length > 1 ? null : 'is of all of several devices'),
  role: () => 'memory',
  leastUs: memory.leastUs,
  // Planned in place of that of one device.
  plan: () => [],
}

/** Over all devices (attack 427), and more than 32 of any card fill: all roots of a part are hashed in one go. */
const MOST_KEPT = 2 ** 16

/** All of the memory of each device. */
function whole(inputs: PlanInputs): MemoryPart {
  const k = classK(inputs.preset, inputs.devices[0]!.class, 'int8')
  const size = Math.min(...inputs.devices.map((device) => memorySize(inputs.preset, device, k)))
  const kept = inputs.devices.map((device, _, all) =>
    Math.min(keptRounds(inputs.preset, device, size, k), Math.floor(MOST_KEPT / all.length)),
  )
  const kind = inputs.devices.length > 1 ? memories : memory
  return { ...calibrationPart(inputs, { name: kind.name, k: kind.k }, 'int8', size), kept }
}

function timed(inputs: PlanInputs): MemoryPart {
  const part = whole(inputs)
  // The same share of each: they read together, and wait for who takes longest over all that it holds (attack 503).
  const shares = inputs.devices.map((device, d) => Math.min(1, timedFill(device, part, d) / part.kept[d]!))
  const share = Math.max(...shares)
  const kept = part.kept.map((rounds) => Math.ceil(share * rounds))
  return { ...part, kept, rounds: timedPasses(inputs) }
}

/** A pass over a few megabytes measures the threads of a CPU waking up, not its memory; rounds of a card are large. */
function timedFill({ class: kind }: SizedDevice, { m, kept }: MemoryPart, device: number): number {
  if (kind === 'cpu') return 48
  return Math.max(16, Math.min(Math.ceil(2 ** 30 / (2 * m ** 2)), Math.ceil(kept[device]! / 8)))
}

/**
 * A card reads so small a fill in milliseconds, and roots come together over a network: a few of its passes say nothing, and
 * passes that are over too soon are asked again, for which nobody is paid in a fleet (attack 503).
 */
const timedPasses = ({ devices }: PlanInputs): number =>
  devices.some((device) => device.class === 'gpu') ? 240 : TIMED_ROUNDS

/** §7 asks for 50; so much more as 3.2 s are than 2. A launch is a fifth of a calibrated pass of a small card (attack 503). */
const PASS_ROUND_TRIPS = 1.6 * LEAST_PASS_ROUND_TRIPS

/** The slowest fill of a card that we wait for. */
const LONGEST_FILL_SECONDS = 300

function lasting(inputs: PlanInputs, timings: Timings): MemoryPart {
  const planned = whole(inputs)
  const fill = timings.get('fill')
  const kept = planned.kept.map((rounds, device) => affordable(inputs, device, rounds, fill?.slowest))
  const pass = timings.get('pass byte')
  const bytes = Math.max(...kept) * planned.m * planned.n * 2
  // A CPU's caches make a short calibration of its memory uncertain; the passes must not be over too soon.
  const certain = inputs.devices.some((device) => device.class === 'cpu') ? 2 : 1
  const wanted = Math.max(
    certain * inputs.preset.passSeconds,
    inputs.preset.secure ? PASS_ROUND_TRIPS * inputs.roundTripSeconds : 0,
  )
  const rounds = plannedRounds(
    pass && wanted > 0 ? Math.ceil(wanted / (pass.fastest * bytes)) : inputs.preset.fixedPasses,
    inputs,
  )
  const expected = (fill?.slowest ?? 1) * Math.max(...kept) + (pass?.slowest ?? 0) * bytes * rounds
  const limitMs = limitFor(expected, LONGEST_FILL_SECONDS)
  return { ...planned, kept, rounds, openings: inputs.openings, limitMs }
}

/** A CPU fills slowly, and its memory proves little: a few seconds are enough. A card is always filled. */
const CPU_FILL_SECONDS = 4

const affordable = (inputs: PlanInputs, device: number, kept: number, secondsPerRound: number | undefined): number =>
  inputs.devices[device]!.class === 'cpu' && secondsPerRound !== undefined
    ? Math.max(2, Math.min(kept, Math.floor(CPU_FILL_SECONDS / secondsPerRound)))
    : kept
