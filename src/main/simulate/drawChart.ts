import type { Chart, Line } from '../../apps/simulate/models/report.ts'

const [WIDTH, HEIGHT, LEFT, TOP, RIGHT, BOTTOM] = [720, 420, 70, 50, 20, 60]
const COLOURS = ['#1f6feb', '#d1242f', '#1a7f37', '#9a6700', '#8250df', '#0a7ea4', '#bf3989', '#57606a']
/** About so many lines of the grid. */
const TICKS = 5

interface Scale {
  readonly from: number
  readonly to: number
  /** Between two lines of the grid. */
  readonly step: number
  at(value: number): number
}

/** A chart as an SVG file of its own, without script or anything loaded from elsewhere. */
export function drawChart({ title, x, y, lines, isScatter }: Chart): string {
  const points = lines.flatMap((line) => line.points)
  const across = scaleOf(
    points.map(([value]) => value),
    LEFT,
    WIDTH - RIGHT,
  )
  const up = scaleOf([0, ...points.map(([, value]) => value)], HEIGHT - BOTTOM, TOP)
  const parts = [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${HEIGHT}" font-family="sans-serif" font-size="12">`,
    `<rect width="${WIDTH}" height="${HEIGHT}" fill="#ffffff"/>`,
    `<text x="${LEFT}" y="24" font-size="16" font-weight="bold">${escaped(title)}</text>`,
    ...ticksOf(across).map((value) => gridAcross(value, across)),
    ...ticksOf(up).map((value) => gridUp(value, up)),
    `<text x="${(LEFT + WIDTH - RIGHT) / 2}" y="${HEIGHT - 14}" text-anchor="middle">${escaped(x)}</text>`,
    `<text transform="translate(16 ${(TOP + HEIGHT - BOTTOM) / 2}) rotate(-90)" text-anchor="middle">${escaped(y)}</text>`,
    ...(isScatter ? [diagonal(across, up)] : []),
    ...lines.map((line, i) => drawLine(line, COLOURS[i % COLOURS.length]!, across, up, isScatter === true)),
    ...(lines.length < 2 ? [] : lines.map(({ name }, i) => legend(name, i))),
    '</svg>',
  ]
  return `${parts.join('\n')}\n`
}

/** From one round number to another, so that all values lie between. */
function scaleOf(values: readonly number[], start: number, end: number): Scale {
  const [least, most] = [Math.min(...values), Math.max(...values)]
  const step = roundStep((most > least ? most - least : 1) / TICKS)
  const from = Math.floor(least / step) * step
  const to = Math.max(Math.ceil(most / step) * step, from + step)
  return { from, to, step, at: (value) => start + ((value - from) / (to - from)) * (end - start) }
}

/** 1, 2 or 5 times a power of ten, and at least this much. */
function roundStep(least: number): number {
  const power = 10 ** Math.floor(Math.log10(least))
  return power * [1, 2, 5, 10].find((times) => times * power >= least * (1 - 1e-9))!
}

const ticksOf = ({ from, to, step }: Scale): number[] =>
  Array.from({ length: Math.round((to - from) / step) + 1 }, (_, i) => from + step * i)

const gridAcross = (value: number, across: Scale): string => {
  const at = place(across.at(value))
  return `<line x1="${at}" y1="${TOP}" x2="${at}" y2="${HEIGHT - BOTTOM}" stroke="#eaeef2"/><text x="${at}" y="${HEIGHT - BOTTOM + 18}" text-anchor="middle">${shown(value)}</text>`
}

const gridUp = (value: number, up: Scale): string => {
  const at = place(up.at(value))
  return `<line x1="${LEFT}" y1="${at}" x2="${WIDTH - RIGHT}" y2="${at}" stroke="#eaeef2"/><text x="${LEFT - 8}" y="${at + 4}" text-anchor="end">${shown(value)}</text>`
}

/** Where both sides are equal. */
function diagonal(across: Scale, up: Scale): string {
  const [from, to] = [Math.max(across.from, up.from), Math.min(across.to, up.to)]
  const ends = `x1="${place(across.at(from))}" y1="${place(up.at(from))}" x2="${place(across.at(to))}" y2="${place(up.at(to))}"`
  return `<line ${ends} stroke="#8c959f" stroke-dasharray="4 4"/>`
}

function drawLine({ points }: Line, colour: string, across: Scale, up: Scale, isScatter: boolean): string {
  const places = points.map(([left, high]) => [place(across.at(left)), place(up.at(high))] as const)
  if (isScatter) return places.map(([cx, cy]) => `<circle cx="${cx}" cy="${cy}" r="4" fill="${colour}"/>`).join('')
  return `<polyline fill="none" stroke="${colour}" stroke-width="2" points="${places.map((at) => at.join(',')).join(' ')}"/>`
}

const legend = (name: string, i: number): string => {
  const y = TOP + 14 + 18 * i
  return `<rect x="${LEFT + 12}" y="${y - 9}" width="12" height="12" fill="${COLOURS[i % COLOURS.length]}"/><text x="${LEFT + 30}" y="${y + 1}">${escaped(name)}</text>`
}

const place = (value: number): number => Math.round(value * 10) / 10
const shown = (value: number): string => String(Number(value.toPrecision(3)))
const escaped = (text: string): string =>
  text.replace(/[&<>"]/g, (letter) => ({ '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' })[letter]!)
