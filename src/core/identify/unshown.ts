import { MAX_K, MEMORY_BANDWIDTH_SHARE, ONE_MEMORY_SHARE } from '../params/constants.ts'
import { PRECISION_NAMES } from '../params/precision.ts'
import type { GpuModel } from './catalogue.ts'
import { type ClaimReason, claimReason } from './claimReasons.ts'
import type { DeviceQuestion } from './deviceReasons.ts'
import { copyBandwidth } from './expected.ts'
import { shareOf } from './identifyGpu.ts'
import { prepareModel } from './prepareModel.ts'
import { unreachedRate } from './ruleOut.ts'
import { scaled, suppliedPerSecond } from './supplied.ts'

/**
 * A problem was shown at the speed of a model from this share of its expected rate on. Honest runs differ by a tenth, so
 * they stay above it; what a lesser card reaches stays below (docs/spec/identity.md, "Shown at its speed").
 */
const SPEED_SHARE = 0.85
/** Nine tenths of the 95 % of the card that §7 fills. */
export const HELD_SHARE = 0.855
/** The least that an idle card fills and reads of its memory: runs differ by a tenth. */
const HONEST_FILL = 0.94
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

function memoryOf(model: GpuModel, question: UnshownQuestion): readonly ClaimReason[] {
  const { device, measured, catalogue } = question
  const { memoryBytes: held, bandwidth } = measured
  const least = HELD_SHARE * model.memoryBytes
  const facts = { device, got: Math.floor(held ?? 0), expected: Math.ceil(least), model: model.name }
  if (held === undefined || bandwidth === undefined) return [claimReason('MEMORY_NOT_RUN', { ...facts, got: 0 })]
  if (held < least) return [claimReason('MEMORY_NOT_SHOWN', facts)]
  const slowest = MEMORY_BANDWIDTH_SHARE * (copyBandwidth(model, catalogue.rules) ?? 0)
  if (bandwidth < slowest)
    return [claimReason('MEMORY_TOO_SLOW', { ...facts, got: Math.floor(bandwidth), expected: Math.ceil(slowest) })]
  if (measured.memoriesRead === 'in turns')
    return [claimReason('MEMORY_IN_TURNS', { device, got: 'memory', expected: 'memories' })]
  const lender = lenderOf(model, { held, bandwidth }, question)
  return lender ? [claimReason('MEMORY_MAY_BE_LENT', { device, got: lender, expected: model.name })] : []
}

/** Models that count as the claimed ones. */
const groupOf = (claimed: readonly GpuModel[]): readonly string[] => claimed.flatMap(({ id, twins }) => [id, ...twins])

interface Passes {
  readonly held: number
  readonly bandwidth: number
}

/**
 * §7, attacks 69 and 98: a card with less memory than was held, fast enough for the rates, could have held the rest in its
 * host or computed it again while the passes went on; and so could fewer cards than there are devices (attack 465), of which
 * each device has a share. Slowing down is free, so it need not fit the rates, only reach them.
 * Where even an honest card could not rule a lender out, no run can, and the claim is not held to it: the floor says so.
 */
function lenderOf(claimed: GpuModel, passes: Passes, question: UnshownQuestion): string | undefined {
  const { measured, catalogue, beside } = question
  const devices = measured.memoriesRead === 'together' ? beside.length + 1 : 1
  const group = groupOf(question.claimed)
  const honest = {
    held: HONEST_FILL * claimed.memoryBytes,
    bandwidth: HONEST_BANDWIDTH * (copyBandwidth(claimed, catalogue.rules) ?? 0),
  }
  const lends = (model: GpuModel, share: number, { held, bandwidth }: Passes) =>
    share * model.memoryBytes < held &&
    share * (model.memoryBytes + suppliedPerSecond([model], MAX_K, catalogue.rules) * ((2 * held) / bandwidth)) >= held
  for (let cards = devices; cards > 0; cards--) {
    const share = cards / devices
    const rates = scaled(measured.rates ?? {}, 1 / share)
    const lender = catalogue.models.find((model) => {
      // As many of the claimed cards are the claim; fewer of them are not.
      if ((cards === devices && group.includes(model.id)) || !lends(model, share, passes)) return false
      return !lends(model, share, honest) && unreachedRate(model, rates, catalogue.rules) === undefined
    })
    if (lender) return cards === devices ? lender.name : `${lender.name} (${cards} for ${devices} devices)`
  }
  return undefined
}

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
