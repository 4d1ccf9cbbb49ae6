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
