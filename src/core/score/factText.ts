const PREFIXES = ['', 'k', 'M', 'G', 'T', 'P'] as const

/** 703e12 and "op/s" become "703 Top/s": three digits and a decimal prefix, for sentences. */
export function factText(value: number, unit: string): string {
  if (!(value > 0)) return `0 ${unit}`
  const step = Math.min(PREFIXES.length - 1, Math.max(0, Math.floor(Math.log10(value) / 3)))
  const shown = value / 1000 ** step
  return `${shown.toFixed(shown >= 100 ? 0 : shown >= 10 ? 1 : 2)} ${PREFIXES[step]}${unit}`
}
