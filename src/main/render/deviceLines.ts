import { cardsOf } from '../../core/certificate/judgementSchema.ts'
import type { DeviceJudgement } from '../../core/certificate/judgeRun.ts'
import type { Catalogue, GpuModel } from '../../core/identify/catalogue.ts'
import { expectedRate } from '../../core/identify/expected.ts'
import type { Inventory } from '../../core/inventory/inventory.ts'
import { ONE_MEMORY_SHARE } from '../../core/params/constants.ts'
import { PRECISION_NAMES } from '../../core/params/precision.ts'
import { formatBytes, formatBytesPerSecond } from '../../core/units/format.ts'
import { efficiencyText } from './efficiencyText.ts'
import { labelled } from './labelled.ts'
import { shownModel } from './shownModel.ts'
import { bar } from './showSteps.ts'
import { dipMarks, sparkline } from './sparkline.ts'
import { speedFigure, speedScale, speedText, speedUnit } from './speed.ts'
import { summariseTelemetry } from './summariseTelemetry.ts'
import type { Colours } from './terminal.ts'
import { transferLines } from './transferLines.ts'

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
    `  ${colours.bold(`device ${device.device}`)}  ${said?.name ?? ''} ${colours.dim('(claimed)')}`,
    ...labelled('inferred', identityText(device)),
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

function memoryLines({ memory, bindShare, linkPerSecond, identity }: DeviceJudgement): string[] {
  const read = memory && `${formatBytes(memory.heldBytes)} read at ${formatBytesPerSecond(memory.perSecond)}`
  const own = memory?.floorBytes && `at least ${formatBytes(memory.floorBytes)} of it cannot have come from elsewhere`
  const link = linkPerSecond === null ? null : `${formatBytesPerSecond(linkPerSecond)} from the device before it`
  return [
    ...labelled(`memory ${memory?.status}`, read),
    ...labelled('', own || null),
    ...labelled('one-card test', bindShare === null ? null : bindText(bindShare, identity.status === 'cpu')),
    ...labelled('link', link),
  ]
}

/** Which card it is, as far as the run can tell; in detail with the closest ones. */
export function identityText({ identity }: Pick<DeviceJudgement, 'identity'>, isVerbose = true): string {
  if (identity.status === 'cpu') return 'a CPU; it is never identified as a GPU'
  if (identity.status === 'insecure') return 'nothing: the preset identifies no card'
  const closest = identity.closest.map(({ model, confidencePercent }) => `${model} ${confidencePercent} %`).join(', ')
  if (identity.status === 'unknown' || identity.model === null) return `unknown card (closest: ${closest || 'none'})`
  // A rounded 100 is not certainty.
  const sure = `${identity.confidencePercent > 99 ? 'over 99' : identity.confidencePercent} % sure`
  const alike = cardsOf(identity).length > 1 ? '; they measure alike, so it may be any of them' : ''
  return `${identity.model}, ${sure}${alike}${isVerbose ? ` (closest: ${closest})` : ''}`
}

function bindText(share: number, isCpu: boolean): string {
  const rate = `bind at ${share / 10} % of the int8 rate`
  if (isCpu) return rate
  return share >= ONE_MEMORY_SHARE
    ? `${rate}: one card or one NVLink group`
    : `${rate}: below ${ONE_MEMORY_SHARE / 10} %, as two cards joined by PCIe would show`
}
