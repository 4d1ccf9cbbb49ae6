import type { BenchReport } from '../../core/bench/benchReport.ts'
import { formatBytes, formatSeconds } from '../../core/units/format.ts'
import { labelled } from '../render/labelled.ts'
import type { Colours, Terminal } from '../render/terminal.ts'
import { wrap } from '../render/wrap.ts'
import { healthTable, linkTable, speedTable } from './benchTables.ts'
import { findingText, groupedFindings } from './findingText.ts'

export const BENCH_WORDS = { pass: 'PASS', fail: 'FAIL', 'not-judged': 'NOT JUDGED' } as const

/** The answer in one sentence. */
export function benchAnswer({ verdict, devices, problems, notes }: BenchReport): string {
  const found = countedNames(devices.map(({ name }) => name))
  if (verdict === 'pass')
    return `${found}: every figure within or above the range of ${countedNames(devices.map(({ model }) => model!.name))}`
  const [first] = verdict === 'fail' ? problems : notes
  const more = verdict === 'fail' && problems.length > 1 ? ` (and ${problems.length - 1} more)` : ''
  return `${found}: ${first ? findingText(first) : 'nothing to hold it against'}${more}`
}

function countedNames(names: readonly string[]): string {
  const kinds = new Map<string, number>()
  for (const name of names) kinds.set(name, (kinds.get(name) ?? 0) + 1)
  return [...kinds].map(([name, count]) => `${count} x ${name}`).join(', ')
}

/** A bench for people: the answer, the tables, what was found, and what to do. */
export function benchLines(report: BenchReport, terminal: Pick<Terminal, 'colours' | 'columns'>): string[] {
  const { colours, columns } = terminal
  const { problems, notes, against } = report
  const decisive = report.verdict === 'not-judged' ? notes.slice(0, 1) : problems
  const steps = [...new Set(decisive.map(({ nextStep }) => nextStep))]
  const others = notes.filter((one) => !decisive.some(({ code, figure }) => code === one.code && figure === one.figure))
  return [
    ...headline(report, terminal),
    ...steps.flatMap((step, i) => labelled(i === 0 ? 'now' : '', step, 7, columns)),
    '',
    ...speedTable(report, colours),
    ...legend(report, terminal),
    ...healthTable(report, colours),
    ...linkTable(report, colours),
    ...(problems.length + others.length > 0 ? [''] : []),
    ...section('problems', groupedFindings(problems, report), columns),
    ...section('notes', groupedFindings(others, report), columns),
    '',
    ...labelled(
      'measured',
      `in ${formatSeconds(report.seconds)}; on a machine you trust, proven to nobody else`,
      17,
      columns,
    ),
    ...labelled('compared', comparedText(against), 17, columns),
    // Whoever scrolled past it looks here.
    ...(report.devices.length > 1 ? ['', ...headline(report, terminal)] : []),
  ]
}

function headline(report: BenchReport, { colours, columns }: Pick<Terminal, 'colours' | 'columns'>): string[] {
  const word = BENCH_WORDS[report.verdict]
  const [first = '', ...rest] = wrap(benchAnswer(report), columns - 2, columns - word.length - 2)
  return [`${colours.bold(colourOf(report, colours)(word))}  ${first}`, ...rest.map((line) => `  ${line}`)]
}

/** With which run, and whether what differs is more than two runs of one machine differ by. */
export function comparedText(against: BenchReport['against']): string | null {
  if (!against || against.changes.length === 0) return null
  const { changes, tolerance } = against
  const when = `with ${against.startedAt.slice(0, 16).replace('T', ' ')} UTC`
  if (tolerance === undefined) return when
  const noise = `${Math.round(100 * tolerance)} %`
  const beyond = changes.filter(({ before, now }) => Math.abs(now / before - 1) > tolerance).length
  return beyond === 0
    ? `${when}: alike; what differs is within ${noise}, as between two runs of one machine`
    : `${when}: ${beyond} of ${changes.length} figures differ by more than ${noise}; what differs by less is noise`
}

function legend({ devices }: BenchReport, { colours, columns }: Pick<Terminal, 'colours' | 'columns'>): string[] {
  const [first] = devices
  const held = first?.memory ? `memory: ${formatBytes(first.memory.bytes)} filled, then read. ` : ''
  const library = devices.find(({ products }) => products.some((one) => one.bareOpsPerSec !== null))?.productLibrary
  const bare = library ? `bare: without seeds and commitments, by ${library} (fp32 by our own kernel). ` : ''
  const low = devices.some(({ products, memory }) =>
    [
      ...products.flatMap(({ provenOpsPerSec, bareOpsPerSec, expected }) =>
        [provenOpsPerSec, bareOpsPerSec ?? Number.POSITIVE_INFINITY].map((got) => ({ got, expected })),
      ),
      { got: memory?.bytesPerSec ?? 0, expected: memory?.expected ?? null },
    ].some(({ got, expected }) => expected !== null && got < expected.low),
  )
  return wrap(`${bare}${held}${low ? '! below least.' : ''}`.trim(), columns - 2).map((line) =>
    colours.dim(`  ${line}`),
  )
}

const section = (label: string, texts: readonly string[], columns: number): string[] =>
  texts.flatMap((text, i) => labelled(i === 0 ? label : '', text, 11, columns))

const colourOf = ({ verdict }: BenchReport, { red, green, yellow }: Colours) =>
  ({ pass: green, fail: red, 'not-judged': yellow })[verdict]
