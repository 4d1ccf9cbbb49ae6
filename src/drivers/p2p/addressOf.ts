import type { Multiaddr } from '@multiformats/multiaddr'
import { networkOf } from '../../core/bytes/networkOf.ts'

/**
 * Where a connection comes from, as far as it costs something to have another. Null for what is no address, and for a
 * machine's own ones: who is on this machine can do worse.
 */
export function addressOf(remote: Multiaddr): string | null {
  const host = remote.getComponents().find(({ name }) => name === 'ip4' || name === 'ip6')?.value
  if (host === undefined || host === '::1') return null
  const network = networkOf(host)
  return network.startsWith('127.') ? null : network
}
