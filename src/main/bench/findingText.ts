import type { BenchFinding, BenchReport } from '../../core/bench/benchReport.ts'
import { isPrecision } from '../../core/params/precision.ts'
import { formatBytesPerSecond } from '../../core/units/format.ts'
import { speedText } from '../render/speed.ts'

/** A figure in the unit that people know for it. */
function valueText(value: number | string, figure: string): string {
  const [first = ''] = figure.split(' ')
  if (typeof value === 'string') return value
  if (isPrecision(first)) return speedText(value, first)
  return value >= 1e6 ? formatBytesPerSecond(value) : String(value)
}

/** One finding as a sentence, without the card it is of. */
export function findingText({ code, figure, got, expected, meaning }: BenchFinding): string {
  // Whose name it is stands above.
  if (figure === 'card') return `${meaning} [${code}]`
  const wanted = expected === null ? '' : `, ${WANTED[code] ?? 'not'} ${valueText(expected, figure)}`
  return `${meaning}: ${figure} ${valueText(got, figure)}${wanted} [${code}]`
}

const WANTED: Readonly<Record<string, string>> = {
  SLOW: 'at least',
  SLOWER_THAN_BEFORE: 'down from',
  NOT_COMPARED: 'before',
  PCIE_NARROW: 'of',
}

/** Every finding once, with the cards it holds for. */
export function groupedFindings(
  findings: readonly BenchFinding[],
  { devices }: Pick<BenchReport, 'devices'>,
): string[] {
  const texts = [...new Set(findings.map(findingText))]
  return texts.map((text) => {
    const cards = findings.filter((one) => findingText(one) === text).flatMap(({ device }) => device ?? [])
    if (cards.length === 0 || devices.length < 2) return text
    const which = cards.length === devices.length ? 'all cards' : `card ${cards.join(', ')}`
    return `${which}: ${text}`
  })
}
