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
import type { Terminal } from './terminal.ts'
import { transferLines } from './transferLines.ts'

type Lines = Pick<Terminal, 'line' | 'colours'>

export interface ShownDevice {
  readonly device: DeviceJudgement
  /** What the box said of it. */
  readonly said: Inventory['devices'][number] | undefined
  readonly catalogue: Catalogue
  readonly claim: string | null
  readonly telemetry: readonly unknown[]
}

/** One device of a verdict: rates against what its model should show, the sustained curve, memory, claims. */
export function showDevice({ device, said, catalogue, claim, telemetry }: ShownDevice, lines: Lines): void {
  const { line, colours } = lines
  const model = shownModel(device, claim, catalogue)
  line('')
  line(`  ${colours.bold(`device ${device.device}`)}  ${said?.name ?? ''} ${colours.dim('(claimed)')}`)
  for (const row of labelled('inferred', identityText(device))) line(row)
  showRates(device, model, catalogue, lines)
  const efficiency = efficiencyText(device, model)
  if (efficiency !== null) for (const row of labelled('efficiency', efficiency)) line(colours.dim(row))
  showSustained(device, lines)
  showMemory(device, lines)
  for (const row of transferLines(said?.details ?? {})) line(row)
  const claims = summariseTelemetry(telemetry, device.device, device.sustained?.perSecond ?? null)
  if (claims !== null) for (const row of labelled('claimed', claims)) line(row)
}

function showRates(
  device: DeviceJudgement,
  model: GpuModel | undefined,
  catalogue: Catalogue,
  { line, colours }: Lines,
): void {
  const best = Math.max(...Object.values(device.rates), 1)
  for (const precision of PRECISION_NAMES) {
    const rate = device.rates[precision]
    if (rate === undefined) continue
    const expected = model ? expectedRate(model, precision, catalogue.rules) : null
    const range = expected ? colours.dim(`  expected ${formatOps(expected.low)} to ${formatOps(expected.high)}`) : ''
    const drawn = bar(rate / (expected?.high ?? best), 16)
    line(`  proven ${precision.padEnd(6)}  ${drawn} ${formatOps(rate)}${range}`)
  }
}

function showSustained({ sustained }: DeviceJudgement, { line, colours }: Lines): void {
  if (!sustained) return
  for (const row of labelled('sustained', sustainedText(sustained))) line(row)
  line(`                 ${sparkline(sustained.points)}`)
  const marks = dipMarks(sustained.points, sustained.medianPerSecond)
  if (marks !== null)
    for (const row of [marks, '^ below 90 % of the median']) line(colours.yellow(`${' '.repeat(17)}${row}`))
  const spread = `median ${formatOps(sustained.medianPerSecond)}, 5 % below ${formatOps(sustained.lowPerSecond)}, least ${formatOps(sustained.leastPerSecond)}`
  for (const row of labelled('  its rounds', spread)) line(colours.dim(row))
}

type Sustained = NonNullable<DeviceJudgement['sustained']>
type SustainedFigures = Pick<Sustained, 'perSecond' | 'precision' | 'dips' | 'lastShare' | 'peakShare'>

export function sustainedText({ perSecond, precision, dips, lastShare, peakShare }: SustainedFigures): string {
  const dipped = dips > 0 ? `, ${dips} ${dips === 1 ? 'dip' : 'dips'}` : ''
  const mean = peakShare === undefined ? '' : `, ${peakShare / 10} % of the short part`
  return `${formatOps(perSecond)} ${precision}${dipped}, last third at ${lastShare / 10} % of the first${mean}`
}

function showMemory(device: DeviceJudgement, { line }: Lines): void {
  const { memory } = device
  if (memory) {
    const rate = formatBytesPerSecond(memory.perSecond)
    line(`  memory ${memory.status.padEnd(7)} ${formatBytes(memory.heldBytes)} read at ${rate}`)
    if (memory.floorBytes)
      line(`                 at least ${formatBytes(memory.floorBytes)} of it cannot have come from elsewhere`)
  }
  if (device.bindShare !== null)
    line(`  one memory     ${bindText(device.bindShare, device.identity.status === 'cpu')}`)
  if (device.linkPerSecond !== null)
    line(`  link           ${formatBytesPerSecond(device.linkPerSecond)} from the device before it`)
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
