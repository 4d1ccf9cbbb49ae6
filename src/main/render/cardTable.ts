import type { DeviceJudgement } from '../../core/certificate/judgeRun.ts'
import type { Catalogue, GpuModel } from '../../core/identify/catalogue.ts'
import { withArticle } from '../../core/identify/claimReasons.ts'
import { expectedBandwidth, expectedRate } from '../../core/identify/expected.ts'
import { ONE_MEMORY_SHARE } from '../../core/params/constants.ts'
import { PRECISION_NAMES } from '../../core/params/precision.ts'
import { shownModel } from './deviceLines.ts'
import { figure, type SpeedScale, speedFigure, speedScale, speedUnit } from './speed.ts'
import type { Colours } from './terminal.ts'

interface Column {
  readonly name: string
  readonly unit: string
  readonly width: number
  cell(device: DeviceJudgement): string
  /** What a proof shows on a card of this model, from and to. */
  expected?(model: GpuModel): { readonly low: string; readonly high: string } | null
}

const LOW = '!'
const HELD = '~'
const LEGEND = [
  { mark: LOW, text: '! below what a proof shows on such a card; by itself that is no fault' },
  {
    mark: HELD,
    text: '~ held, but read slowly, by several devices in turns, or on an unknown card',
  },
]

/** One row a card, and what a card of the model should show below them. */
export function cardTable(
  devices: readonly DeviceJudgement[],
  claim: string | null,
  catalogue: Catalogue,
  colours: Colours,
): string[] {
  if (devices.length === 0) return []
  const columns = columnsOf(devices, claim, catalogue)
  const row = (label: string, cell: (column: Column) => string) =>
    `  ${label.padEnd(5)}${columns.map((column) => cell(column).padStart(column.width)).join('')}`.trimEnd()
  const rows = devices.map((device) => row(String(device.device), ({ cell }) => cell(device)))
  return [
    colours.dim(row('card', ({ name }) => name)),
    colours.dim(row('', ({ unit }) => unit)),
    ...rows,
    ...expectedRows(devices, claim, catalogue, row).map(colours.dim),
    ...LEGEND.flatMap(({ mark, text }) => (rows.some((one) => one.includes(mark)) ? [`  ${text}`] : [])),
  ]
}

function columnsOf(devices: readonly DeviceJudgement[], claim: string | null, catalogue: Catalogue): Column[] {
  const scale = speedScale(...devices.flatMap(({ rates }) => Object.values(rates)))
  const modelOf = (device: DeviceJudgement) => shownModel(device, claim, catalogue)
  const ran = PRECISION_NAMES.filter((precision) => devices.some(({ rates }) => rates[precision] !== undefined))
  return [
    ...ran.map((precision): Column => {
      const expected = (model: GpuModel) => expectedRate(model, precision, catalogue.rules)
      return {
        name: precision,
        unit: speedUnit(precision, scale),
        width: 7,
        cell: (device) => {
          const rate = device.rates[precision]
          const model = modelOf(device)
          const least = (model && expected(model)?.low) ?? 0
          return rate === undefined ? '-' : `${rate < least ? LOW : ''}${speedFigure(rate, scale)}`
        },
        expected: (model) => inScale(expected(model), scale),
      }
    }),
    ...(devices.some(({ memory }) => memory) ? memoryColumns(catalogue, modelOf) : []),
    ...(devices.some(({ sustained }) => sustained) ? [SUSTAINED] : []),
    ...(devices.some(({ bindShare }) => bindShare !== null) ? [PAIR_TEST] : []),
  ]
}

const inScale = (range: { readonly low: number; readonly high: number } | null, scale: SpeedScale) =>
  range && { low: speedFigure(range.low, scale), high: speedFigure(range.high, scale) }

const memoryColumns = (catalogue: Catalogue, modelOf: (device: DeviceJudgement) => GpuModel | undefined): Column[] => [
  {
    name: 'memory',
    unit: 'GiB',
    width: 8,
    cell: ({ memory }) =>
      memory === null ? '-' : `${memory.status === 'held' ? HELD : ''}${figure(memory.heldBytes / 2 ** 30)}`,
  },
  {
    name: 'reading',
    unit: 'GB/s',
    width: 8,
    cell: (device) => {
      const { memory } = device
      if (memory === null) return '-'
      const model = modelOf(device)
      const least = (model && expectedBandwidth(model, catalogue.rules)?.low) ?? 0
      return `${memory.perSecond < least ? LOW : ''}${figure(memory.perSecond / 1e9)}`
    },
    expected: (model) => {
      const range = expectedBandwidth(model, catalogue.rules)
      return range && { low: figure(range.low / 1e9), high: figure(range.high / 1e9) }
    },
  },
]

const SUSTAINED: Column = {
  name: 'kept up',
  unit: 'at end',
  width: 9,
  // Roots held back make the end look like the start, but not the mean like that of the short part (attacks 94, 148).
  cell: ({ sustained }) =>
    sustained === null
      ? '-'
      : `${Math.round(Math.min(sustained.lastShare, sustained.peakShare ?? sustained.lastShare) / 10)} %`,
}

/** A figure, no "passed": several cards may show it too (attacks 361, 380). */
const PAIR_TEST: Column = {
  name: 'pair test',
  unit: 'of int8',
  width: 10,
  cell: ({ bindShare, identity }) => {
    if (bindShare === null || identity.status === 'cpu' || identity.status === 'insecure') return '-'
    return `${bindShare < ONE_MEMORY_SHARE ? LOW : ''}${Math.floor(bindShare / 10)} %`
  },
}

/** Only where all cards are held against one model. */
function expectedRows(
  devices: readonly DeviceJudgement[],
  claim: string | null,
  catalogue: Catalogue,
  row: (label: string, cell: (column: Column) => string) => string,
): string[] {
  const [model, ...others] = new Set(devices.map((device) => shownModel(device, claim, catalogue)))
  if (model === undefined || others.length > 0) return []
  return [
    row('least', ({ expected }) => expected?.(model)?.low ?? ''),
    row('most', ({ expected }) => expected?.(model)?.high ?? ''),
    `  least, most: what a proof shows on ${withArticle(model.name)}`,
  ]
}
