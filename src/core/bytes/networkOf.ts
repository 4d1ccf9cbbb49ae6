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
  const network = groups.slice(0, 4).map((group) => group.toString(16))
  return `${network.join(':')}::/64`
}

/** The eight groups of an IPv6 address, or null when it is none. */
function groupsOf(text: string): number[] | null {
  const url = `http://[${text}]`
  if (!/^[0-9a-f:.]+$/i.test(text) || !URL.canParse(url)) return null
  // A URL spells it in one way: hex groups, the longest run of zeros left out.
  const [head = '', tail = ''] = new URL(url).hostname.slice(1, -1).split('::')
  const [before, after] = [head, tail].map((half) => half.split(':').filter((group) => group !== ''))
  const zeros = new Array<string>(8 - before!.length - after!.length).fill('0')
  return [...before!, ...zeros, ...after!].map((group) => Number.parseInt(group, 16))
}
