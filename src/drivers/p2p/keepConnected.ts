import type { Libp2p, PeerId } from '@libp2p/interface'
import type { Multiaddr } from '@multiformats/multiaddr'
import { peerAddress } from './peerAddress.ts'

const RETRY_MS = 1_000
const DIAL_TIMEOUT_MS = 5_000
/** With so many peers those that are found by themselves are left alone. */
const ENOUGH_PEERS = 16

/** Dials the nodes of the bootstrap list again whenever they are away, and those that are found nearby. */
export class Keeper {
  private readonly node: Libp2p
  private readonly wanted: { readonly address: Multiaddr; peer: PeerId | null; isDialling: boolean }[]
  private readonly timer: NodeJS.Timeout

  constructor(node: Libp2p, bootstrap: readonly string[]) {
    this.node = node
    this.wanted = bootstrap.map((text) => ({ address: peerAddress(text), peer: null, isDialling: false }))
    node.addEventListener('peer:discovery', ({ detail }) => {
      if (node.getConnections().length < ENOUGH_PEERS)
        void node.dial(detail.id, { signal: AbortSignal.timeout(DIAL_TIMEOUT_MS) }).catch(() => {})
    })
    this.timer = setInterval(() => this.dialMissing(), RETRY_MS)
    this.dialMissing()
  }

  stop(): void {
    clearInterval(this.timer)
  }

  private dialMissing(): void {
    for (const each of this.wanted) {
      const isHere = each.peer !== null && this.node.getConnections(each.peer).length > 0
      if (!isHere && !each.isDialling) void this.dial(each)
    }
  }

  private async dial(each: Keeper['wanted'][number]): Promise<void> {
    each.isDialling = true
    try {
      const { remotePeer } = await this.node.dial(each.address, { signal: AbortSignal.timeout(DIAL_TIMEOUT_MS) })
      each.peer = remotePeer
    } catch {
      // It is tried again.
    } finally {
      each.isDialling = false
    }
  }
}
