import type { BenchDevice, BenchReport } from '../../core/bench/benchReport.ts'
import { PRECISION_NAMES } from '../../core/params/precision.ts'
import { figure, speedFigure, speedScale, speedUnit } from '../render/speed.ts'
import type { Colours } from '../render/terminal.ts'

interface Column {
  readonly name: string
  readonly unit: string
  /** As the figures are called in findings and comparisons. */
  readonly key: (row: 'proven' | 'bare') => string
  text(value: number): string
  of(device: BenchDevice): { readonly proven: number; readonly bare: number | null; readonly expected: Range } | null
}
type Range = { readonly low: number; readonly high: number } | null

const WIDTH = 8
const LABEL = 14

/** The columns of a run: its precisions, then memory, each in one unit for all cards. */
export function columnsOf(devices: readonly BenchDevice[]): Column[] {
  const rates = devices.flatMap(({ products }) =>
    products.flatMap((one) => [one.provenOpsPerSec, one.bareOpsPerSec ?? 0]),
  )
  const scale = speedScale(...rates)
  const ran = PRECISION_NAMES.filter((name) =>
    devices.some(({ products }) => products.some((p) => p.precision === name)),
  )
  return [
    ...ran.map(
      (precision): Column => ({
        name: precision,
        unit: speedUnit(precision, scale),
        key: (row) => `${precision} ${row}`,
        text: (value) => speedFigure(value, scale),
        of: ({ products }) => {
          const found = products.find((one) => one.precision === precision)
          return found ? { proven: found.provenOpsPerSec, bare: found.bareOpsPerSec, expected: found.expected } : null
        },
      }),
    ),
    {
      name: 'memory',
      unit: 'GB/s',
      key: () => 'memory',
      text: (value) => figure(value / 1e9),
      of: ({ memory }) => memory && { proven: memory.bytesPerSec, bare: null, expected: memory.expected },
    },
  ]
}

const row = (label: string, cells: readonly string[]): string =>
  `  ${label.padEnd(LABEL)}${cells.map((cell) => cell.padStart(WIDTH)).join('')}`.trimEnd()

/** Rates and memory: two rows a card, what changed since, and what such a card should show. */
export function speedTable({ devices, against }: BenchReport, colours: Colours): string[] {
  const columns = columnsOf(devices)
  const dim = (label: string, cells: readonly string[]) => colours.dim(row(label, cells))
  const cell = (column: Column, value: number | null | undefined, expected: Range = null) =>
    value === null || value === undefined ? '-' : `${expected && value < expected.low ? '!' : ''}${column.text(value)}`
  const changed = (device: number, column: Column) => {
    const found = against?.changes.find((one) => one.device === device && one.figure === column.key('proven'))
    return found ? percentText(found.now / found.before - 1) : '-'
  }
  const isCompared = (number: number) => against?.changes.some(({ device }) => device === number)
  const rows = devices.flatMap((device) => {
    const shown = columns.map((column) => ({ column, value: column.of(device) }))
    const hasBare = device.products.some(({ bareOpsPerSec }) => bareOpsPerSec !== null)
    return [
      row(
        `${device.device} proven`,
        shown.map(({ column, value }) => cell(column, value?.proven, value?.expected)),
      ),
      ...(hasBare
        ? [
            row(
              '  bare',
              shown.map(({ column, value }) => cell(column, value?.bare, value?.expected)),
            ),
          ]
        : []),
      ...(isCompared(device.device)
        ? [
            dim(
              '  since then',
              columns.map((column) => changed(device.device, column)),
            ),
          ]
        : []),
    ]
  })
  return [
    dim(
      'card',
      columns.map(({ name }) => name),
    ),
    dim(
      '',
      columns.map(({ unit }) => unit),
    ),
    ...rows,
    ...expectedRows(devices, columns).map(colours.dim),
  ]
}

export const percentText = (change: number): string =>
  `${change >= 0 ? '+' : ''}${(100 * change).toFixed(Math.abs(change) < 0.0995 ? 1 : 0)} %`

/** Only where all cards are held against one model. */
function expectedRows(devices: readonly BenchDevice[], columns: readonly Column[]): string[] {
  const [model, ...others] = new Set(devices.map((device) => device.model?.name))
  if (model === undefined || others.length > 0) return []
  const end = (name: 'low' | 'high') =>
    columns.map((column) => {
      const range = column.of(devices[0]!)?.expected
      return range ? column.text(range[name]) : ''
    })
  return [
    row('least', end('low')),
    row('most', end('high')),
    `  least, most: what a proof shows on such a card (${model})`,
  ]
}

const between = (span: { readonly low: number; readonly high: number } | null): string => {
  if (span === null) return '-'
  const [low, high] = [Math.round(span.low), Math.round(span.high)]
  return low === high ? String(low) : `${low}-${high}`
}

const ways = (rates: { readonly toCard: number; readonly toHost: number } | undefined): string =>
  rates === undefined ? '-' : `${figure(rates.toCard / 1e9)}/${figure(rates.toHost / 1e9)}`

/** One row a card: host transfer, clocks, power, heat, errors. */
export function healthTable({ devices }: BenchReport, colours: Colours): string[] {
  if (devices.every((device) => device.class === 'cpu')) return []
  const rows = devices.map(({ device, transfers, watched }) => {
    const { pinned, pageable } = transfers ?? {}
    const limit = watched.powerLimitWatts === null ? '' : `/${Math.round(watched.powerLimitWatts)}`
    const lanes = watched.pcieWidth === null ? '-' : `${watched.pcieGeneration ?? '?'} x${watched.pcieWidth}`
    return [
      String(device),
      ways(pinned),
      ways(pageable),
      between(watched.smClockMhz),
      `${between(watched.powerWatts)}${limit}`,
      between(watched.temperatureC),
      lanes,
      String(watched.eccUncorrected ?? '-'),
      watched.xids.join(' ') || '-',
    ]
  })
  const table = [...HEALTH_HEAD, ...rows]
  const widths = HEALTH_HEAD[0]!.map((_, i) => Math.max(...table.map((cells) => cells[i]!.length)))
  const lines = table.map((cells) => `  ${cells.map((cell, i) => cell.padStart(widths[i]!)).join('  ')}`.trimEnd())
  return ['', ...lines.map((line, i) => (i < HEALTH_HEAD.length ? colours.dim(line) : line))]
}

const HEALTH_HEAD = [
  ['card', 'pinned', 'pageable', 'clock', 'power', 'heat', 'PCIe', 'ECC', 'Xid'],
  ['', 'up/down', 'GB/s', 'MHz', 'W', 'C', '', '', ''],
]

/** How fast the card of a row reads the memory of the card of a column. */
export function linkTable({ devices, links }: BenchReport, colours: Colours): string[] {
  if (links.length === 0) return []
  const cellOf = (to: number, from: number) => {
    const found = links.find((link) => link.to === to && link.from === from)
    if (!found) return ''
    return found.bytesPerSec === null ? 'no' : figure(found.bytesPerSec / 1e9)
  }
  const numbers = devices.map(({ device }) => device)
  const refused = [...new Set(links.flatMap(({ why }) => why ?? []))]
  return [
    '',
    colours.dim(row('card to card', numbers.map(String))),
    ...numbers.map((to) =>
      row(
        `${to} reads GB/s`,
        numbers.map((from) => cellOf(to, from)),
      ),
    ),
    ...refused.map((code) => `  no: a card could not read the memory of another [${code}]`),
  ]
}
