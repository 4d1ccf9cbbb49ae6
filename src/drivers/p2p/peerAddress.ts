import { isIP } from 'node:net'
import { type Multiaddr, multiaddr } from '@multiformats/multiaddr'
import { fault } from './faults.ts'

/** The address of a node, as host:port or as the node itself shows it. */
export function peerAddress(text: string): Multiaddr {
  try {
    if (text.startsWith('/')) return multiaddr(text)
    const [, host, port] = /^\[?([^\]\s/]+)\]?:(\d{1,5})$/.exec(text) ?? []
    if (host === undefined || Number(port) > 65_535) throw new RangeError(text)
    const kind = { 4: 'ip4', 6: 'ip6', 0: 'dns' }[isIP(host)]
    return multiaddr(`/${kind}/${host}/tcp/${port}`)
  } catch (error) {
    throw fault('BAD_PEER_ADDRESS', { text: text.slice(0, 200) }, error)
  }
}
