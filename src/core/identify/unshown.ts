import { MAX_K, MEMORY_BANDWIDTH_SHARE, ONE_MEMORY_SHARE } from '../params/constants.ts'
import { PRECISION_NAMES } from '../params/precision.ts'
import { idleFill } from '../proof/sizeClass.ts'
import type { GpuModel } from './catalogue.ts'
import { type ClaimReason, claimReason } from './claimReasons.ts'
import type { DeviceQuestion } from './deviceReasons.ts'
import { copyBandwidth } from './expected.ts'
import { shareOf } from './identifyGpu.ts'
import { prepareModel } from './prepareModel.ts'
import { fewerFor, suppliedPerSecond } from './supplied.ts'

/**
 * A problem was shown at the speed of a model from this share of its expected rate on. Honest runs differ by a tenth, so
 * they stay above it; what a lesser card reaches stays below (docs/spec/identity.md, "Shown at its speed").
 */
const SPEED_SHARE = 0.85
/** Nine tenths of the 95 % of the card that §7 fills. */
const HELD_SHARE = 0.855
/** And of what an idle card holds where ECC and the driver keep so much that it cannot hold that (attack 478). */
const IDLE_SHARE = 0.99
/** An idle card holds less than this, so it has to be quicker: else a GH200 of 96 GB with its host would pass as an H200 NVL. */
const OVER_C2C = 0.94
/** The least of its speed that an idle card shows: runs differ by a tenth. */
const HONEST_BANDWIDTH = 0.9
/** Two shares of the likelihood this near are a tie, and a tie is the claim's: they are known no better. */
const TIE = 1.05

type UnshownQuestion = Pick<DeviceQuestion, 'device' | 'measured' | 'shares' | 'claimed' | 'catalogue' | 'beside'>

/** Version 2: what is missing before the device counts as this claimed model, though nothing speaks against it. */
export function unshownOf(model: GpuModel, question: UnshownQuestion): readonly ClaimReason[] {
  return [
    ...slowOrMissing(model, question),
    ...keptUpElsewhere(model, question),
    ...memoryOf(model, question),
    ...bindOf(question),
    ...likelier(model, question),
  ]
}

/**
 * Every problem that the model has a unit for, and int8 of any: bound rounds are held against it, and nothing else bounds
 * those of a card that need not show it, or may show it slowly (attack 321).
 */
function slowOrMissing(model: GpuModel, { device, measured, catalogue }: UnshownQuestion): readonly ClaimReason[] {
  const { own, ways } = prepareModel(model, catalogue.rules)
  return PRECISION_NAMES.flatMap((precision) => {
    const isOwn = own.has(precision)
    if (!isOwn && precision !== 'int8') return []
    const least = isOwn ? SPEED_SHARE * ways[precision][0]!.expected.centre : (ways.int8.at(-1)?.expected.low ?? 1)
    const rate = measured.rates?.[precision] ?? 0
    if (rate >= least) return []
    const facts = { device, precision, got: Math.floor(rate), expected: Math.ceil(least), model: model.name }
    return [claimReason('NOT_SHOWN', facts)]
  })
}

/**
 * §4.0: whoever offers bf16 is sustained in it, and nothing asks for its speed on a card without a unit for it: there it
 * says nothing of the units that were sold (attack 435).
 */
function keptUpElsewhere(model: GpuModel, { device, measured, catalogue }: UnshownQuestion): readonly ClaimReason[] {
  const { rates } = measured
  const isElsewhere = rates?.bf16 !== undefined && !prepareModel(model, catalogue.rules).own.has('bf16')
  const facts = {
    device,
    precision: 'bf16' as const,
    got: Math.floor(rates?.bf16 ?? 0),
    expected: 0,
    model: model.name,
  }
  return isElsewhere ? [claimReason('NOT_KEPT_UP', facts)] : []
}

/** What must be held of the memory of a model before it counts as shown. */
export function leastHeld(model: GpuModel): number {
  const asked = HELD_SHARE * model.memoryBytes
  return model.reported ? Math.min(asked, IDLE_SHARE * idleFill(model)) : asked
}

function memoryOf(model: GpuModel, question: UnshownQuestion): readonly ClaimReason[] {
  const { device, measured, catalogue } = question
  const { memoryBytes: held, bandwidth } = measured
  const least = leastHeld(model)
  const facts = { device, got: Math.floor(held ?? 0), expected: Math.ceil(least), model: model.name }
  if (held === undefined || bandwidth === undefined) return [claimReason('MEMORY_NOT_RUN', { ...facts, got: 0 })]
  if (held < least) return [claimReason('MEMORY_NOT_SHOWN', facts)]
  const slowest = MEMORY_BANDWIDTH_SHARE * (copyBandwidth(model, catalogue.rules) ?? 0)
  if (bandwidth < slowest)
    return [claimReason('MEMORY_TOO_SLOW', { ...facts, got: Math.floor(bandwidth), expected: Math.ceil(slowest) })]
  const { memoriesRead } = measured
  if (question.beside.length > 0 && memoriesRead !== 'together' && memoriesRead !== 'not asked')
    return [claimReason('MEMORY_IN_TURNS', { device, got: 'memory', expected: 'memories' })]
  const lender = lenderOf(model, { held, bandwidth }, question)
  return lender ? [claimReason('MEMORY_MAY_BE_LENT', { device, got: lender, expected: model.name })] : []
}

/** Models that count as the claimed ones. */
const groupOf = (claimed: readonly GpuModel[]): readonly string[] => claimed.flatMap(({ id, twins }) => [id, ...twins])

/**
 * §7, attacks 69 and 98: a card with less memory than was held could have held the rest in its host or computed it again while
 * the passes went on; and so could fewer cards than there are devices (attacks 465, 468). Rates say nothing against it: slowing
 * down is free, and further cards raise them (attack 469).
 * Where even an honest card could not rule a lender out, no run can, and the claim is not held to it: the floor says so.
 */
function lenderOf(claimed: GpuModel, own: Held, question: UnshownQuestion): string | undefined {
  const { measured, catalogue, beside } = question
  const { rules, models } = catalogue
  const longest = (held: number) => (2 * held) / (HONEST_BANDWIDTH * (copyBandwidth(claimed, rules) ?? 0))
  const reaches = (cards: number, model: GpuModel, { held, seconds }: { held: number; seconds: number }) =>
    cards * (model.memoryBytes + suppliedPerSecond([model], MAX_K, rules) * seconds) >= held

  const group = groupOf(question.claimed)
  const idle = idleFill(claimed)
  const honest = ({ hostLink }: GpuModel) => (hostLink === 'c2c' ? OVER_C2C * claimed.memoryBytes : idle)
  const alone = models.find(
    (model) =>
      !group.includes(model.id) &&
      model.memoryBytes < own.held &&
      reaches(1, model, { held: own.held, seconds: secondsOf(own) }) &&
      !reaches(1, model, { held: honest(model), seconds: longest(honest(model)) }),
  )
  if (alone) return alone.name

  const others = beside.flatMap(({ measured: { memoryBytes, bandwidth } }) =>
    memoryBytes && bandwidth ? [{ held: memoryBytes, bandwidth }] : [],
  )
  if (measured.memoriesRead !== 'together' || others.length < beside.length) return undefined
  const soldFor = ({ held }: Held) => likeOwn(claimed, held) ?? smallestFor(question.claimed, held) ?? claimed
  const box = [own, ...others]
  const seconds = Math.max(...box.map(secondsOf))
  const sold = fewerFor([claimed, ...others.map(soldFor)].map(idleFill))
  for (const [i, { cards, devices, least, most }] of fewerFor(box.map(({ held }) => held)).entries()) {
    const few = models.find(
      (model) =>
        cards * model.memoryBytes < most &&
        reaches(cards, model, { held: least, seconds }) &&
        !reaches(cards, model, { held: sold[i]!.least, seconds: longest(idle) }),
    )
    if (few) return `${few.name} (${cards} for ${devices} devices)`
  }
  return undefined
}

const secondsOf = ({ held, bandwidth }: Held): number => (2 * held) / bandwidth

interface Held {
  readonly held: number
  readonly bandwidth: number
}

const likeOwn = (model: GpuModel, held: number): GpuModel | null =>
  held <= model.memoryBytes && held >= leastHeld(model) ? model : null

const smallestFor = (models: readonly GpuModel[], held: number): GpuModel | undefined =>
  models.filter(({ memoryBytes }) => memoryBytes >= held).sort((a, b) => a.memoryBytes - b.memoryBytes)[0]

/** §8, attack 100: below this share two cards that share a product over PCIe show as much, and the verdict says so. */
function bindOf({ device, measured: { bindRate, rates } }: UnshownQuestion): readonly ClaimReason[] {
  if (bindRate === undefined) return [claimReason('BIND_NOT_RUN', { device, got: 0, expected: 1 })]
  const share = Math.floor((1000 * bindRate) / (rates?.int8 ?? 0))
  if (share >= ONE_MEMORY_SHARE) return []
  return [claimReason('BIND_TOO_SLOW', { device, got: share, expected: ONE_MEMORY_SHARE })]
}

/** Attack 70: a neighbour that is likelier must not be sold under the claimed name, though the claimed one fits too. */
function likelier(model: GpuModel, { device, shares, claimed, catalogue }: UnshownQuestion): readonly ClaimReason[] {
  const group = groupOf(claimed)
  const most = TIE * shareOf(group, shares)
  const ranked = [...shares.keys()].map((id) => catalogue.models.find((other) => other.id === id)!)
  const rival = ranked.find(({ id, twins }) => {
    const others = [id, ...twins].filter((other) => !group.includes(other))
    return others.includes(id) && shareOf(others, shares) > most
  })
  return rival ? [claimReason('LIKELIER_CARD', { device, got: rival.name, expected: model.name })] : []
}
