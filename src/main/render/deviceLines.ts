import { cardsOf } from '../../core/certificate/judgementSchema.ts'
import type { DeviceJudgement } from '../../core/certificate/judgeRun.ts'
import type { Catalogue, GpuModel } from '../../core/identify/catalogue.ts'
import { expectedRate } from '../../core/identify/expected.ts'
import type { Inventory } from '../../core/inventory/inventory.ts'
import { ONE_MEMORY_SHARE } from '../../core/params/constants.ts'
import { PRECISION_NAMES } from '../../core/params/precision.ts'
import { formatBytes, formatBytesPerSecond, formatOps } from '../../core/units/format.ts'
import { efficiencyText } from './efficiencyText.ts'
import { labelled } from './labelled.ts'
import { shownModel } from './shownModel.ts'
import { bar } from './showSteps.ts'
import { dipMarks, sparkline } from './sparkline.ts'
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
  return PRECISION_NAMES.flatMap((precision) => {
    const rate = rates[precision]
    if (rate === undefined) return []
    const expected = model ? expectedRate(model, precision, catalogue.rules) : null
    const range = expected ? colours.dim(`  expected ${formatOps(expected.low)} to ${formatOps(expected.high)}`) : ''
    const drawn = bar(rate / (expected?.high ?? best), 16)
    return [`  proven ${precision.padEnd(6)}  ${drawn} ${formatOps(rate)}${range}`]
  })
}

function sustainedLines({ sustained }: DeviceJudgement, colours: Colours): string[] {
  if (!sustained) return []
  const { points, medianPerSecond: median, lowPerSecond, leastPerSecond } = sustained
  const marks = dipMarks(points, median)
  const spread = `median ${formatOps(median)}, 5 % below ${formatOps(lowPerSecond)}, least ${formatOps(leastPerSecond)}`
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
  return `${formatOps(perSecond)} ${precision}${dipped}, last third at ${lastShare / 10} % of the first${mean}`
}

function memoryLines({ memory, bindShare, linkPerSecond, identity }: DeviceJudgement): string[] {
  const read = memory && `${formatBytes(memory.heldBytes)} read at ${formatBytesPerSecond(memory.perSecond)}`
  const own = memory?.floorBytes && `at least ${formatBytes(memory.floorBytes)} of it cannot have come from elsewhere`
  const link = linkPerSecond === null ? null : `${formatBytesPerSecond(linkPerSecond)} from the device before it`
  return [
    ...labelled(`memory ${memory?.status}`, read),
    ...labelled('', own || null),
    ...labelled('one memory', bindShare === null ? null : bindText(bindShare, identity.status === 'cpu')),
    ...labelled('link', link),
  ]
}

export function identityText({ identity }: Pick<DeviceJudgement, 'identity'>): string {
  if (identity.status === 'cpu') return 'a CPU; it is never identified as a GPU'
  if (identity.status === 'insecure') return 'nothing: the preset identifies no card'
  const closest = identity.closest.map(({ model, confidencePercent }) => `${model} ${confidencePercent} %`).join(', ')
  if (identity.status === 'unknown' || identity.model === null) return `unknown card (closest: ${closest || 'none'})`
  // A rounded 100 is not certainty.
  const sure = `${identity.confidencePercent > 99 ? 'over 99' : identity.confidencePercent} % sure`
  const alike = cardsOf(identity).length > 1 ? '; they measure alike, so it may be any of them' : ''
  return `${identity.model}, ${sure}${alike} (closest: ${closest})`
}

function bindText(share: number, isCpu: boolean): string {
  const rate = `bind at ${share / 10} % of the int8 rate`
  if (isCpu) return rate
  return share >= ONE_MEMORY_SHARE
    ? `${rate}: one card or one NVLink group`
    : `${rate}: below ${ONE_MEMORY_SHARE / 10} %, as two cards joined by PCIe would show`
}
