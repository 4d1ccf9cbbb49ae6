const PREFIXES = ['', 'k', 'M', 'G', 'T', 'P', 'E'] as const

/** Three significant digits with a decimal prefix: 1.10 P, 63.2 G. */
export function withPrefix(value: number): string {
  if (!Number.isFinite(value) || value <= 0) return '0 '
  const step = Math.min(PREFIXES.length - 1, Math.max(0, Math.floor(Math.log10(value) / 3)))
  const scaled = value / 1000 ** step
  const digits = scaled >= 100 ? 0 : scaled >= 10 ? 1 : 2
  return `${scaled.toFixed(digits)} ${PREFIXES[step]}`
}

export const formatOps = (perSecond: number): string => `${withPrefix(perSecond)}op/s`
export const formatBytesPerSecond = (perSecond: number): string => `${withPrefix(perSecond)}B/s`

/** Memory is spoken of in binary units. */
export function formatBytes(bytes: number): string {
  const gib = bytes / 2 ** 30
  return gib >= 1 ? `${gib.toFixed(1)} GiB` : `${(bytes / 2 ** 20).toFixed(0)} MiB`
}

export function formatSeconds(seconds: number): string {
  if (seconds < 120) return `${seconds.toFixed(seconds < 10 ? 1 : 0)} s`
  return `${Math.floor(seconds / 60)} min ${Math.round(seconds % 60)} s`
}
