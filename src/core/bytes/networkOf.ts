/**
 * Who asks, as far as an address tells: one customer holds a whole /64 of IPv6, and may write an IPv4 address as IPv6.
 * What is not an address stands for itself.
 */
export function networkOf(address: string): string {
  const groups = groupsOf(address.replace(/%.*$/, ''))
  if (groups === null) return address
  const [high, low] = groups.slice(6) as [number, number]
  const mapped = groups.slice(0, 5).every((group) => group === 0) && groups[5] === 0xffff
  if (mapped) return [high >> 8, high & 255, low >> 8, low & 255].join('.')
  return `${hex(groups.slice(0, 4))}::/64`
}

const hex = (groups: readonly number[]): string => groups.map((group) => group.toString(16)).join(':')

/** The eight groups of an IPv6 address, or null when it is none. */
function groupsOf(text: string): number[] | null {
  const halves = withoutDots(text).split('::')
  if (!text.includes(':') || halves.length > 2) return null
  const [head, tail = []] = halves.map((half) => (half === '' ? [] : half.split(':')))
  const given = [...head!, ...tail]
  const missing = 8 - given.length
  if (halves.length === 2 ? missing < 1 : missing !== 0) return null
  if (!given.every((group) => /^[0-9a-f]{1,4}$/i.test(group))) return null
  const all = [...head!, ...new Array<string>(missing).fill('0'), ...tail]
  return all.map((group) => Number.parseInt(group, 16))
}

/** The last two groups may be spelt as an IPv4 address. */
const withoutDots = (text: string): string =>
  text.replace(/:(\d{1,3})\.(\d{1,3})\.(\d{1,3})\.(\d{1,3})$/, (_, ...parts: string[]) => {
    const [a, b, c, d] = parts.slice(0, 4).map(Number) as [number, number, number, number]
    return Math.max(a, b, c, d) > 255 ? ':x' : `:${hex([a * 256 + b, c * 256 + d])}`
  })
