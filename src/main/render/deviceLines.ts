import { boxWords } from '../../core/bytes/boxWords.ts'
import { cardsOf } from '../../core/certificate/judgementSchema.ts'
import type { DeviceJudgement } from '../../core/certificate/judgeRun.ts'
import { buyerName } from '../../core/identify/buyerName.ts'
import type { Catalogue, GpuModel, PublishedFigure } from '../../core/identify/catalogue.ts'
import { expectedRate } from '../../core/identify/expected.ts'
import { parseClaim } from '../../core/identify/parseClaim.ts'
import type { Inventory } from '../../core/inventory/inventory.ts'
import { ONE_MEMORY_SHARE } from '../../core/params/constants.ts'
import { PRECISION_NAMES } from '../../core/params/precision.ts'
import { formatBytes, formatBytesPerSecond } from '../../core/units/format.ts'
import { labelled } from './labelled.ts'
import { linkText } from './linkText.ts'
import { bar } from './showSteps.ts'
import { speedFigure, speedScale, speedText, speedUnit } from './speed.ts'
import { summariseTelemetry } from './summariseTelemetry.ts'
import type { Colours } from './terminal.ts'

export interface ShownDevice {
  readonly device: DeviceJudgement
  /** What the box said of it. */
  readonly said: Inventory['devices'][number] | undefined
  readonly catalogue: Catalogue
  readonly claim: string | null
  readonly telemetry: readonly unknown[]
}

/** One device of a verdict: rates against what its model should show, the sustained curve, memory, claims. */
export function deviceLines({ device, said, catalogue, claim, telemetry }: ShownDevice, colours: Colours): string[] {
  const model = shownModel(device, claim, catalogue)
  return [
    '',
    ...labelled(`device ${device.device}`, `claimed: ${boxWords(said?.name ?? '')}`).map(colours.bold),
    ...labelled('inferred', identityText(device, catalogue)),
    ...rateLines(device, model, catalogue, colours),
    ...labelled('efficiency', efficiencyText(device, model)).map(colours.dim),
    ...sustainedLines(device, colours),
    ...memoryLines(device),
    ...transferLines(said?.details ?? {}),
    ...labelled('claimed', summariseTelemetry(telemetry, device.device, device.sustained?.perSecond ?? null)),
  ]
}

function rateLines(
  { rates }: DeviceJudgement,
  model: GpuModel | undefined,
  catalogue: Catalogue,
  colours: Colours,
): string[] {
  const best = Math.max(...Object.values(rates), 1)
  const scale = speedScale(best)
  return PRECISION_NAMES.flatMap((precision) => {
    const rate = rates[precision]
    if (rate === undefined) return []
    const expected = model ? expectedRate(model, precision, catalogue.rules) : null
    const unit = speedUnit(precision, scale)
    const range = expected
      ? colours.dim(`  expected ${speedFigure(expected.low, scale)} to ${speedFigure(expected.high, scale)}`)
      : ''
    const drawn = bar(rate / (expected?.high ?? best), 16)
    return [`  ${`${precision} speed`.padEnd(15)}${drawn} ${speedFigure(rate, scale)} ${unit}${range}`]
  })
}

function sustainedLines({ sustained }: DeviceJudgement, colours: Colours): string[] {
  if (!sustained) return []
  const { points, medianPerSecond: median, lowPerSecond, leastPerSecond } = sustained
  const marks = dipMarks(points, median)
  const scale = speedScale(sustained.perSecond)
  const [middle, low, least] = [median, lowPerSecond, leastPerSecond].map((rate) => speedFigure(rate, scale))
  const spread = `median ${middle}, 5 % below ${low}, least ${least} ${speedUnit(sustained.precision, scale)}`
  return [
    ...labelled('sustained', sustainedText(sustained)),
    ...labelled('', sparkline(points)),
    ...(marks === null ? [] : [marks, '^ below 90 % of the median'].map((row) => colours.yellow(`${BLANK}${row}`))),
    ...labelled('  its rounds', spread).map(colours.dim),
  ]
}

const BLANK = ' '.repeat(17)

type Sustained = NonNullable<DeviceJudgement['sustained']>
type SustainedFigures = Pick<Sustained, 'perSecond' | 'precision' | 'dips' | 'lastShare' | 'peakShare'>

export function sustainedText({ perSecond, precision, dips, lastShare, peakShare }: SustainedFigures): string {
  const dipped = dips > 0 ? `, ${dips} ${dips === 1 ? 'dip' : 'dips'}` : ''
  const mean = peakShare === undefined ? '' : `, ${peakShare / 10} % of the short part`
  return `${speedText(perSecond, precision)} ${precision}${dipped}, last third at ${lastShare / 10} % of the first${mean}`
}

function memoryLines(device: DeviceJudgement): string[] {
  const { memory, bindShare, linkPerSecond, identity } = device
  const read = memory && `${formatBytes(memory.heldBytes)} read at ${formatBytesPerSecond(memory.perSecond)}`
  const own =
    memory?.floorBytes &&
    `at least ${formatBytes(memory.floorBytes)} of it neither came over a link from the host nor was computed again`
  const link = linkPerSecond === null ? null : `from the device before it: ${linkText(linkPerSecond)}`
  return [
    ...labelled(`memory ${memory?.status}`, read),
    ...labelled('', own || null),
    ...labelled('pair test', bindShare === null ? null : bindText(bindShare, identity.status === 'cpu')),
    ...labelled('link', link),
  ]
}

/** Which card it is, as far as the run can tell; in detail with the closest ones. */
export function identityText(
  { identity }: Pick<DeviceJudgement, 'identity'>,
  catalogue: Catalogue,
  isVerbose = true,
): string {
  if (identity.status === 'cpu') return 'a CPU; it is never identified as a GPU'
  if (identity.status === 'insecure') return 'nothing: the preset identifies no card'
  const closest = identity.closest.map(({ model, confidencePercent }) => `${model} ${confidencePercent} %`).join(', ')
  if (identity.status === 'unknown' || identity.model === null) return `unknown card (closest: ${closest || 'none'})`
  // A rounded 100 is not certainty.
  const sure = `${identity.confidencePercent > 99 ? 'over 99' : identity.confidencePercent} % sure`
  const cards = cardsOf(identity)
  const alike = cards.length > 1 ? '; they measure alike, so it may be any of them' : ''
  // `model` names those that were sold alone, and the confidence is for all of them.
  return `${buyerName(cards, catalogue) ?? identity.model}, ${sure}${alike}${isVerbose ? ` (closest: ${closest})` : ''}`
}

function bindText(share: number, isCpu: boolean): string {
  const rate = `bind at ${share / 10} % of the int8 rate`
  if (isCpu) return rate
  return share >= ONE_MEMORY_SHARE
    ? `${rate}: as one card shows, and several may together`
    : `${rate}: below ${ONE_MEMORY_SHARE / 10} %, as two cards joined by PCIe would show`
}

const BLOCKS = '▁▂▃▄▅▆▇█'

/** A curve in one row of blocks. */
export function sparkline(points: readonly number[]): string {
  const highest = Math.max(...points, 1)
  return points.map((point) => BLOCKS[Math.min(7, Math.floor((point / highest) * 7.999))]).join('')
}

const DIP = 0.9

/** Marks to stand under a sparkline where it falls below nine tenths of the median; null where it never does. */
export function dipMarks(points: readonly number[], median: number): string | null {
  const marks = points.map((point) => (point < DIP * median ? '^' : ' ')).join('')
  return marks.trim() === '' ? null : marks.trimEnd()
}

/** Whose figures stand beside the proven ones: of models that measure alike the one that was claimed, else the first. */
export function shownModel(
  { identity }: Pick<DeviceJudgement, 'identity'>,
  claim: string | null,
  catalogue: Catalogue,
): GpuModel | undefined {
  const parsed = claim === null ? null : parseClaim(claim, catalogue)
  const claimed = parsed?.ok ? parsed.claim.models.map(({ id }) => id) : []
  const cards: readonly string[] = cardsOf(identity)
  const sold = cards.filter((card) => claimed.includes(card))
  return catalogue.models.find(({ id }) => (sold.length > 0 ? sold : cards).includes(id))
}

/** Proven rates over what the vendor prints for the inferred model; null where nothing was inferred or printed. */
export function efficiencyText({ rates, memory }: DeviceJudgement, model: GpuModel | undefined): string | null {
  if (!model) return null
  const shares = [
    ...PRECISION_NAMES.map((precision) => share(precision, rates[precision], model.rates[precision])),
    share('bandwidth', memory?.perSecond, model.bandwidth),
  ].flat()
  return shares.length === 0 ? null : `of the datasheet of the ${model.name}: ${shares.join(', ')}`
}

function share(what: string, proven: number | undefined, figures: readonly PublishedFigure[] | undefined): string[] {
  const printed = (figures ?? []).filter(({ basis }) => basis === 'datasheet').map(({ value }) => value)
  if (proven === undefined || printed.length === 0) return []
  return [`${what} ${Math.round((100 * proven) / Math.max(...printed))} %`]
}

type Details = Readonly<Record<string, string | number | boolean>>

/** What our program on the box says of the way between host and card, which its owner could have changed; nothing for a CPU. */
export function transferLines({ hostToCardBytesPerSec: up, cardToHostBytesPerSec: down, transferRates }: Details) {
  if (typeof up === 'number' && typeof down === 'number')
    return labelled(
      'host to card',
      `as the box says: ${formatBytesPerSecond(up)}, and ${formatBytesPerSecond(down)} back`,
    )
  return typeof transferRates === 'string'
    ? labelled('host to card', `as the box says: ${boxWords(transferRates)}`)
    : []
}
