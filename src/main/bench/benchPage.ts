import pc from 'picocolors'
import type { BenchDevice, BenchReport } from '../../core/bench/benchReport.ts'
import { element, type Html } from '../report/html.ts'
import { selfContainedPage } from '../report/page.ts'
import { BENCH_WORDS, benchAnswer, benchLines } from './benchLines.ts'
import { columnsOf } from './benchTables.ts'

const CLASSES = { pass: 'as-claimed', fail: 'rejected', 'not-judged': 'not-established' } as const

const PICTURE_STYLE = `
svg { width: 100%; height: auto; font: 13px system-ui, sans-serif; fill: currentcolor }
.band { fill: #8884 } .enough { fill: var(--good) } .low { fill: var(--bad) } .unjudged { fill: var(--open) }
.bare { stroke: currentcolor; stroke-width: 2 } svg .faint { opacity: 0.7 }
`

/** One page with a picture: a bar a figure, over the range that such a card should show. */
export function benchPage(report: BenchReport, style: string): string {
  const plain = { colours: pc.createColors(false), columns: 96 }
  return selfContainedPage(
    'Touchstone bench',
    `${style}${PICTURE_STYLE}`,
    element('h1', { class: `verdict ${CLASSES[report.verdict]}` }, BENCH_WORDS[report.verdict]),
    element('p', { class: 'found' }, benchAnswer(report)),
    ...report.devices.map((device) => picture(device, report)),
    element('p', { class: 'quiet' }, 'Bar: the proven product. Line: the bare one. Grey: the range of the catalogue.'),
    element(
      'details',
      { open: '' },
      element('summary', {}, 'All figures'),
      element('pre', {}, benchLines(report, plain).join('\n')),
    ),
    element('footer', {}, `Measured by ${report.program} on ${report.startedAt}, on a machine its owner trusts.`),
  )
}

const [LEFT, WIDTH, ROW, TOP] = [90, 620, 30, 28]

function picture(device: BenchDevice, { devices }: BenchReport): Html {
  const columns = columnsOf(devices)
  const rows = columns.flatMap((column) => {
    const found = column.of(device)
    return found ? [{ ...found, label: column.name, text: `${column.text(found.proven)} ${column.unit}` }] : []
  })
  const height = TOP + ROW * rows.length
  const title = `card ${device.device}: ${device.name}`
  return element(
    'svg',
    { viewBox: `0 0 ${LEFT + WIDTH + 130} ${height}`, role: 'img', 'aria-label': title },
    element('text', { x: '0', y: '16', 'font-weight': '600' }, title),
    ...rows.flatMap((one, i) => barOf(one, TOP + ROW * i)),
  )
}

interface Bar {
  readonly label: string
  readonly text: string
  readonly proven: number
  readonly bare: number | null
  readonly expected: { readonly low: number; readonly high: number } | null
}

/** Each figure has a scale of its own: what matters is where it lies in its range. */
function barOf({ label, text, proven, bare, expected }: Bar, y: number): Html[] {
  const most = 1.02 * Math.max(proven, bare ?? 0, expected?.high ?? 0, 1)
  const at = (value: number) => (LEFT + (WIDTH * value) / most).toFixed(1)
  const wide = (from: number, to: number) => ((WIDTH * (to - from)) / most).toFixed(1)
  const kind = expected === null ? 'unjudged' : proven < expected.low ? 'low' : 'enough'
  const line = bare === null ? [] : [element('path', { class: 'bare', d: `M${at(bare)} ${y}v18` })]
  const { low, high } = expected ?? { low: 0, high: 0 }
  const band = expected
    ? [element('rect', { class: 'band', x: at(low), y: String(y), width: wide(low, high), height: '18' })]
    : []
  return [
    element('text', { x: '0', y: String(y + 14) }, label),
    ...band,
    element('rect', { class: kind, x: String(LEFT), y: String(y + 4), width: wide(0, proven), height: '10' }),
    ...line,
    element('text', { class: 'faint', x: String(LEFT + WIDTH + 10), y: String(y + 14) }, text),
  ]
}
