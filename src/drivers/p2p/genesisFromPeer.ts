import './withResolvers.ts'
import type { Libp2p } from '@libp2p/interface'
import { noise } from '@libp2p/noise'
import { tcp } from '@libp2p/tcp'
import { lpStream } from '@libp2p/utils'
import { yamux } from '@libp2p/yamux'
import { createLibp2p } from 'libp2p'
import { lastWords } from '../../core/bytes/printable.ts'
import { fault } from './faults.ts'
import { peerAddress } from './peerAddress.ts'

const PROTOCOL = '/ts1/genesis/1'
const MOST_GENESIS_BYTES = 4 << 20
const TIMEOUT_MS = 10_000

/** Tells everybody who asks which chain this node follows. */
export async function serveGenesis(node: Libp2p, bytes: Uint8Array): Promise<void> {
  await node.handle(
    PROTOCOL,
    async (stream) => {
      const signal = AbortSignal.timeout(TIMEOUT_MS)
      try {
        await lpStream(stream).write(bytes, { signal })
        await stream.close({ signal })
      } catch (error) {
        stream.abort(error instanceof Error ? error : new Error('failed'))
      }
    },
    { maxInboundStreams: 1 },
  )
}

/** The genesis that a node follows, in its bytes: for a chain to try things on, where whoever is asked may name it. */
export async function genesisFromPeer(address: string): Promise<Uint8Array> {
  const target = peerAddress(address)
  const node = await createLibp2p({ transports: [tcp()], connectionEncrypters: [noise()], streamMuxers: [yamux()] })
  const signal = AbortSignal.timeout(TIMEOUT_MS)
  try {
    const stream = await node.dialProtocol(target, PROTOCOL, { signal })
    const frame = await lpStream(stream, { maxDataLength: MOST_GENESIS_BYTES }).read({ signal })
    return new Uint8Array(frame.subarray())
  } catch (error) {
    throw fault('NO_GENESIS_FROM_PEER', { address, why: lastWords(String(error)) }, error)
  } finally {
    await node.stop()
  }
}
