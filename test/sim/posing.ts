import type { Catalogue, GpuModel } from '../../src/core/identify/catalogue.ts'
import { TOLERATED_EXCESS } from '../../src/core/identify/expected.ts'
import { judgeClaim } from '../../src/core/identify/judgeClaim.ts'
import type { MeasuredGpu } from '../../src/core/identify/measured.ts'
import { prepareModel } from '../../src/core/identify/prepareModel.ts'
import { suppliedPerSecond } from '../../src/core/identify/supplied.ts'
import { leastHeld } from '../../src/core/identify/unshown.ts'
import { MAX_K, type ProtocolVersion } from '../../src/core/params/constants.ts'
import { PRECISION_NAMES, type Precision } from '../../src/core/params/precision.ts'
import { proven } from '../../src/core/params/provenance.ts'
import { SHALLOW_K } from '../../src/core/proof/sizeClass.ts'

/** §7: a pass that walks from partner to readers reads 1.08 tiles of the two that are counted. */
const READ_ORDER = 2 / 1.08
const FORGEABLE: readonly Precision[] = ['bf16', 'fp8']
const HONEST_FILL = 0.95

/** How a box lies about what it is. Each mode may do all that the one before may. */
export const POSING_MODES = ['withholds', 'withholds and slows down', 'and reads in order', 'shows all'] as const
/** Bytes a second that a host reads of its own memory (two sockets of 12 channels), three for each that the card lacks. */
const HOST_WORKS = 1.2e12 / 3

/**
 * Shows all, and has of its host what its link carries while the passes run (attack 98), and what its processor works on
 * itself (attack 403); several that share all work;
 * several that share plain rounds, while one of them alone holds the memory and runs the bound ones (attack 361); several
 * that share all of it, so that any two tiles meet on one of them (attack 380), or two with the rest sent to and fro (404).
 */
export type PosingMode = (typeof POSING_MODES)[number] | 'lends' | 'works' | 'shares' | 'keeps' | 'spreads' | 'crosses'

const SKILLED: readonly PosingMode[] = ['shows all', 'lends', 'works', 'shares', 'keeps', 'spreads', 'crosses']

/** Of so many cards each needs this share of all tiles for every two of them to meet on one: three have two thirds each. */
const MEETING_SHARE: Readonly<Record<number, number>> = { 3: 2 / 3, 4: 3 / 5, 6: 1 / 2, 7: 3 / 7 }
/**
 * Of two cards with this share of all tiles each, so much of them crosses each way in a pass (test/independent/partner_reuse.py),
 * over links of 64 GB/s.
 */
const CROSSING: readonly { readonly share: number; readonly crosses: number }[] = [
  { share: 0.5, crosses: 0.149 },
  { share: 0.6, crosses: 0.104 },
  { share: 0.7, crosses: 0.064 },
  { share: 0.8, crosses: 0.032 },
]
const CARD_LINK_BYTES_PER_SEC = 64e9

const isSkilled = (mode: PosingMode): boolean => SKILLED.includes(mode)

export interface Pair {
  readonly box: GpuModel
  readonly claimed: GpuModel
}

/** The expected rate of a unit of its own, or 0. */
export function ownRate(model: GpuModel, name: Precision, { rules }: Catalogue): number {
  const { own, ways } = prepareModel(model, rules)
  return own.has(name) ? ways[name][0]!.expected.centre : 0
}

/** What a claim asks of a problem, or 0: int8 of every card, as fast as fp32 where it has no unit for it. */
const askedRate = (model: GpuModel, name: Precision, catalogue: Catalogue): number =>
  ownRate(model, name, catalogue) || (name === 'int8' ? ownRate(model, 'fp32', catalogue) : 0)

const bestRate = (model: GpuModel, catalogue: Catalogue): number =>
  Math.max(...PRECISION_NAMES.map((name) => ownRate(model, name, catalogue)))

/** Whether the box is so much less than what it claims that no lie may make it pass. */
export const isMuchLess = ({ box, claimed }: Pair, catalogue: Catalogue): boolean =>
  bestRate(box, catalogue) <= 0.8 * bestRate(claimed, catalogue) || box.memoryBytes <= 0.9 * claimed.memoryBytes

export const allPairs = ({ models }: Catalogue): readonly Pair[] =>
  models.flatMap((box) => models.filter((claimed) => claimed !== box).map((claimed) => ({ box, claimed })))

/** The most the box reaches in a problem: on its own unit or another, and with Strassen where there is room for it. */
function reach(box: GpuModel, name: Precision, { rules }: Catalogue): number {
  const best = Math.max(0, ...prepareModel(box, rules).ways[name].map(({ expected }) => expected.centre))
  return FORGEABLE.includes(name) ? best * TOLERATED_EXCESS : best
}

/** identity.md I7.2.4, by arithmetic: the product, and C written once and read twice. */
function boundRate(box: GpuModel, catalogue: Catalogue): number {
  const bytesPerOperation = 12 / (2 * SHALLOW_K)
  return 1 / (1 / reach(box, 'int8', catalogue) + bytesPerOperation / bandwidthOf(box, catalogue))
}

const bandwidthOf = (model: GpuModel, { rules }: Catalogue): number => prepareModel(model, rules).bandwidth!.centre

interface Attempt {
  /** Every value is aimed at this share of what the claimed card shows. */
  readonly aim: number
  readonly bandwidthAim: number
  /** Of int8 a share of its own: the less of it is shown, the less is asked of bound rounds. */
  readonly int8Aim?: number
  readonly shown: readonly Precision[]
  /** Cards that share every product, and the memory. */
  readonly cards?: number
  /** Of the memory each of them has, and how fast that lets them read it together. */
  readonly split?: { readonly share: number; readonly mostPerSecond: number }
  /** An int8 rate of the box's choice, where the claimed card has no unit for it. */
  readonly int8?: number
}

/** The values a lying box sends: each aimed at the claimed card, as far as the box reaches. */
function measurement(pair: Pair, posing: Posing, attempt: Attempt): MeasuredGpu {
  const { box, claimed } = pair
  const { mode, catalogue, slowBind = false, beside, speed = 1 } = posing
  const { cards = 1 } = attempt
  const slows = mode !== 'withholds'
  const target = (name: Precision) => askedRate(claimed, name, catalogue) || ownRate(box, name, catalogue)
  const inOne = mode === 'keeps' ? 1 : cards
  const share = mode === 'spreads' ? MEETING_SHARE[cards]! : (attempt.split?.share ?? 1)
  const isSpread = mode === 'spreads' || mode === 'crosses'
  const bound = Math.max(boundRate(box, catalogue), beside ? boundRate(beside.model, catalogue) : 0) / share
  const most = (name: Precision) =>
    speed * cards * (isSkilled(mode) ? reach(box, name, catalogue) : ownRate(box, name, catalogue)) +
    (beside ? beside.cards * reach(beside.model, name, catalogue) : 0)
  const rates: Partial<Record<Precision, number>> = attempt.int8 === undefined ? {} : { int8: attempt.int8 }
  for (const name of attempt.shown) {
    const aim = (name === 'int8' && attempt.int8Aim) || attempt.aim
    const rate = slows ? Math.min(most(name), aim * target(name)) : most(name)
    if (rate > 0) rates[name] = rate
  }
  const inOrder = mode === 'withholds' || mode === 'withholds and slows down' ? 1 : READ_ORDER
  const fastest = Math.min(inOne * bandwidthOf(box, catalogue) * inOrder, attempt.split?.mostPerSecond ?? Infinity)
  const bandwidth = slows ? Math.min(fastest, attempt.bandwidthAim * bandwidthOf(claimed, catalogue)) : fastest
  return proven({
    rates,
    declined: PRECISION_NAMES.filter((name) => rates[name] === undefined),
    memoryBytes: heldBytes(pair, { mode, bandwidth, catalogue, cards: isSpread ? 1 / share : inOne }),
    bandwidth,
    bindRate: slowBind ? 1 : mode === 'keeps' || isSpread ? bound : 0.5 * (rates.int8 ?? 1e12),
  })
}

interface Passes {
  readonly mode: PosingMode
  readonly bandwidth: number
  readonly catalogue: Catalogue
  readonly cards: number
}

/**
 * A lying box fills all of its memory, and holds more as long as the passes stay fast: what its link carries from the host
 * while they run, and what it computes again.
 */
function heldBytes({ box, claimed }: Pair, { mode, bandwidth, catalogue, cards }: Passes): number {
  if (mode === 'withholds') return HONEST_FILL * box.memoryBytes
  const perSecond = suppliedPerSecond([box], MAX_K, catalogue.rules) + (mode === 'works' ? HOST_WORKS : 0)
  const lends = mode === 'lends' || mode === 'works' || box.hostLink === 'c2c'
  const own = box.memoryBytes / (lends ? Math.max(0.01, 1 - (2 * perSecond) / bandwidth) : 1)
  return Math.min(HONEST_FILL * claimed.memoryBytes, 0.999 * cards * own)
}

/**
 * The most of the claimed card that the box can show, whatever it does: the least share over every problem, and the share
 * of its memory (all of it behind C2C, where memory can be lent).
 */
export function nearness(
  { box, claimed }: Pair,
  catalogue: Catalogue,
): { readonly rates: number; readonly memory: number } {
  const asked = PRECISION_NAMES.filter((name) => ownRate(claimed, name, catalogue) > 0)
  const shares = asked.map((name) => reach(box, name, catalogue) / ownRate(claimed, name, catalogue))
  return { rates: Math.min(...shares), memory: box.hostLink === 'c2c' ? 1 : box.memoryBytes / claimed.memoryBytes }
}

/** Whether no card of the box has the memory that a claim asks for. */
export const lacksMemory = ({ box, claimed }: Pair): boolean =>
  box.hostLink !== 'c2c' && box.memoryBytes < 0.855 * claimed.memoryBytes

/** Whether the box alone runs some problem of the claimed card at 0.8 of its speed or less. */
export const lacksSpeed = (pair: Pair, catalogue: Catalogue): boolean => nearness(pair, catalogue).rates <= NEAR

function comesNear(pair: Pair, catalogue: Catalogue, mode: PosingMode): boolean {
  const { rates, memory } = nearness(pair, catalogue)
  return rates >= NEAR && (memory >= NEAR || mode === 'lends' || mode === 'works')
}

/** Farther away than this no choice of values makes a box pass: one attempt a mode shows that the judge thinks so too. */
const NEAR = 0.8

/** What a box tries: which problems it shows, and how near to the claimed card it aims. */
function attemptsOf(pair: Pair, posing: Posing): readonly Attempt[] {
  const { mode, catalogue, effort } = posing
  const own = PRECISION_NAMES.filter((name) => ownRate(pair.box, name, catalogue) > 0)
  const asked = PRECISION_NAMES.filter((name) => askedRate(pair.claimed, name, catalogue) > 0)
  const shows = isSkilled(mode) ? asked : own.filter((name) => asked.includes(name))
  const first = { aim: 1, bandwidthAim: 1, shown: shows }
  if (mode === 'shares') return sharedAttempts(pair, first, catalogue)
  if (mode === 'keeps') return keptAttempts(first, posing.beside ? [1] : [2, 3, 4])
  if (mode === 'crosses')
    return CROSSING.flatMap(({ share, crosses }) =>
      keptAttempts(first, [2]).map((attempt) => ({
        ...attempt,
        split: { share, mostPerSecond: (2 * CARD_LINK_BYTES_PER_SEC) / crosses },
      })),
    )
  if (mode === 'spreads') return keptAttempts(first, Object.keys(MEETING_SHARE).map(Number))
  if (effort === 'quick' && !comesNear(pair, catalogue, mode)) return [first]
  if (mode === 'withholds') return subsetsOf(own).map((shown) => ({ ...first, shown }))
  const aims = AIMS.flatMap((aim) => [1, 0.9].map((bandwidthAim) => ({ aim, bandwidthAim })))
  const reached = own.filter(
    (name) => ownRate(pair.box, name, catalogue) >= 0.8 * ownRate(pair.claimed, name, catalogue),
  )
  const choices = isSkilled(mode) ? [asked, PRECISION_NAMES] : [shows, reached, own, []]
  return aims.flatMap((aim) => choices.map((shown) => ({ ...aim, shown })))
}

/** Attack 313: int8 as the claimed card shows it, withheld, or as slow as the bound rounds. */
function sharedAttempts({ claimed }: Pair, first: Attempt, catalogue: Catalogue): readonly Attempt[] {
  const shown = first.shown.filter((name) => ownRate(claimed, name, catalogue) > 0)
  const choices =
    shown.length === first.shown.length ? [first] : [first, { ...first, shown }, { ...first, shown, int8: 4 }]
  return [2, 3, 4].flatMap((cards) => choices.map((choice) => ({ ...choice, cards })))
}

const keptAttempts = (first: Attempt, counts: readonly number[]): readonly Attempt[] =>
  counts.flatMap((cards) =>
    KEPT_AIMS.flatMap((aim) => [aim, KEPT_AIMS.at(-1)!].map((int8Aim) => ({ ...first, cards, aim, int8Aim }))),
  )

const KEPT_AIMS = [1, 0.95, 0.9, 0.86]
const AIMS = [1, 0.95, 0.9, 0.86, 0.8, 1.1]

const subsetsOf = (names: readonly Precision[]): readonly (readonly Precision[])[] =>
  Array.from({ length: 2 ** names.length }, (_, bits) => names.filter((_, i) => (bits >> i) & 1))

/** A thorough box tries everything on every pair, a quick one only where it comes near. */
type Effort = 'quick' | 'thorough'

export interface Posing {
  readonly mode: PosingMode
  readonly effort: Effort
  readonly catalogue: Catalogue
  readonly rules: ProtocolVersion
  /** Bound rounds at one operation a second. */
  readonly slowBind?: boolean
  /** How fast its units are, against what the catalogue expects of them; 1 unless said otherwise. */
  readonly speed?: number
  /** Another card beside, which runs the bound rounds, and so many of it that share the plain ones (attack 469). */
  readonly beside?: { readonly model: GpuModel; readonly cards: number }
}

/** The first set of values by which the box passes for the claimed card, or null when none of its attempts does. */
export function poseAs(pair: Pair, posing: Posing): MeasuredGpu | null {
  const { catalogue, rules } = posing
  const claim = { count: 1, card: pair.claimed.name, models: [pair.claimed] }
  const tried = new Set<string>()
  for (const attempt of attemptsOf(pair, posing)) {
    const { declined, ...rest } = measurement(pair, posing, attempt)
    // Version 1 never heard of what was declined.
    const measured = rules === 1 || declined === undefined ? rest : { ...rest, declined }
    const key = JSON.stringify(measured)
    if (tried.has(key)) continue
    tried.add(key)
    if (judgeClaim({ claim, devices: [measured], catalogue, rules }).verdict === 'matches') return measured
  }
  return null
}

export interface Several {
  readonly cards: number
  readonly devices: number
  /** Of the claimed card itself, beside them. */
  readonly genuine: number
}

/**
 * Attack 468: fewer cards than devices, less memory in all than a claim asks for, the rest from their hosts; every device alike,
 * at the values that serve them best. Null when no attempt passes.
 */
export function poseAsSeveral({ box, claimed }: Pair, { cards, devices, genuine }: Several, catalogue: Catalogue) {
  const share = cards / devices
  if (share * box.memoryBytes >= 0.855 * claimed.memoryBytes) return null
  const supplied = suppliedPerSecond([box], MAX_K, catalogue.rules)
  const asked = PRECISION_NAMES.filter((name) => askedRate(claimed, name, catalogue) > 0)
  const claim = { count: devices + genuine, card: claimed.name, models: [claimed] }
  for (const fill of [0.9, 1.0001 * (leastHeld(claimed) / claimed.memoryBytes)])
    for (const speed of [1, 0.8501])
      for (const aim of [1, 0.9]) {
        const memoryBytes = fill * claimed.memoryBytes
        const bandwidth = speed * bandwidthOf(claimed, catalogue)
        const carried = supplied * ((2 * memoryBytes) / bandwidth)
        if (
          bandwidth > share * bandwidthOf(box, catalogue) ||
          share * (HONEST_FILL * box.memoryBytes + carried) < memoryBytes
        )
          continue
        const rates = Object.fromEntries(
          asked.map((name) => [
            name,
            Math.min(share * reach(box, name, catalogue), aim * askedRate(claimed, name, catalogue)),
          ]),
        )
        const declined = PRECISION_NAMES.filter((name) => rates[name] === undefined)
        const memory = { memoryBytes, bandwidth, memoriesRead: 'together' } as const
        const one = proven({ rates, declined, ...memory, bindRate: 0.5 * rates.int8! })
        const all = Array<MeasuredGpu>(devices + genuine).fill(one)
        if (judgeClaim({ claim, devices: all, catalogue, rules: 2 }).verdict === 'matches') return one
      }
  return null
}
