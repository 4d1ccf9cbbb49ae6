import { isIPv4, isIPv6 } from 'node:net'
import { type Multiaddr, multiaddr } from '@multiformats/multiaddr'

/**
 * Where a connection comes from, as far as it costs something to have another: an IPv4 address, or the 64 bits of an IPv6
 * one that a network hands out as a whole. Null for a machine's own addresses: who is on this machine can do worse.
 */
export function addressOf(remote: Multiaddr): string | null {
  const host = remote.getComponents().find(({ name }) => name === 'ip4' || name === 'ip6')?.value ?? ''
  if (isIPv4(host)) return host.startsWith('127.') ? null : host
  if (!isIPv6(host) || host === '::1') return null
  const groups = groupsOf(host)
  const mapped = groups.slice(0, 6).join() === '0,0,0,0,0,65535'
  if (mapped)
    return addressOf(
      multiaddr(
        `/ip4/${groups
          .slice(6)
          .flatMap((two) => [two >> 8, two & 255])
          .join('.')}`,
      ),
    )
  return `${groups
    .slice(0, 4)
    .map((group) => group.toString(16))
    .join(':')}::/64`
}

/** The eight groups of an address as `multiaddr` spells it: in hexadecimal, with at most one gap. */
function groupsOf(address: string): number[] {
  const [left = [], right = []] = address.split('::').map((part) => part.split(':').filter((group) => group !== ''))
  const gap = new Array<string>(8 - left.length - right.length).fill('0')
  return [...left, ...gap, ...right].map((group) => Number.parseInt(group, 16))
}
