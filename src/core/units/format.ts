const PREFIXES = ['', 'k', 'M', 'G', 'T', 'P', 'E'] as const

/** Three significant digits with a decimal prefix: 1.10 P, 63.2 G. */
export function withPrefix(value: number): string {
  if (!Number.isFinite(value) || value <= 0) return '0 '
  const step = Math.min(PREFIXES.length - 1, Math.max(0, Math.floor(Math.log10(value) / 3)))
  const scaled = value / 1000 ** step
  const digits = scaled >= 100 ? 0 : scaled >= 10 ? 1 : 2
  return `${scaled.toFixed(digits)} ${PREFIXES[step]}`
}

/** A figure of a certificate ends at 2^53 - 1: there the device showed that or more. */
export const formatOps = (perSecond: number): string =>
  `${perSecond === Number.MAX_SAFE_INTEGER ? 'at least ' : ''}${withPrefix(perSecond)}op/s`
export const formatBytesPerSecond = (perSecond: number): string => `${withPrefix(perSecond)}B/s`

/** Memory is spoken of in binary units. */
export function formatBytes(bytes: number): string {
  const gib = bytes / 2 ** 30
  if (gib >= 1) return `${gib.toFixed(1)} GiB`
  return bytes >= 2 ** 20 ? `${(bytes / 2 ** 20).toFixed(0)} MiB` : `${(bytes / 2 ** 10).toFixed(0)} KiB`
}

/** In the largest unit of which there are two: ages need no more. */
export function formatAge(seconds: number): string {
  const units = [
    { name: 'days', seconds: 86_400 },
    { name: 'hours', seconds: 3600 },
    { name: 'minutes', seconds: 60 },
  ]
  const unit = units.find((candidate) => seconds >= 2 * candidate.seconds) ?? { name: 'seconds', seconds: 1 }
  const count = Math.max(0, Math.floor(seconds / unit.seconds))
  return `${count} ${count === 1 ? unit.name.slice(0, -1) : unit.name}`
}

export function formatSeconds(seconds: number): string {
  if (seconds < 0.1) return `${(seconds * 1000).toFixed(seconds < 0.01 ? 1 : 0)} ms`
  if (seconds < 120) return `${seconds.toFixed(seconds < 10 ? 1 : 0)} s`
  const whole = Math.round(seconds)
  return `${Math.floor(whole / 60)} min ${whole % 60} s`
}
