import './withResolvers.ts'
import { createHash } from 'node:crypto'
import { generateKeyPairFromSeed } from '@libp2p/crypto/keys'
import { type GossipSub, gossipsub, StrictNoSign, TopicValidatorResult } from '@libp2p/gossipsub'
import { identify } from '@libp2p/identify'
import type { Connection, Libp2p, PeerId, Stream } from '@libp2p/interface'
import { mdns } from '@libp2p/mdns'
import { noise } from '@libp2p/noise'
import { tcp } from '@libp2p/tcp'
import { lpStream } from '@libp2p/utils'
import { yamux } from '@libp2p/yamux'
import type { Multiaddr } from '@multiformats/multiaddr'
import { createLibp2p } from 'libp2p'
import {
  type Judged,
  MOST_MESSAGE_BYTES,
  MOST_QUESTION_BYTES,
  type Network,
  type NetworkHandlers,
  type RequestLimits,
  TOPICS,
} from '../../ports/network.ts'
import { addressOf as usualAddress } from './addressOf.ts'
import { serveGenesis } from './genesisFromPeer.ts'
import { Keeper } from './keepConnected.ts'
import { requireFreePort } from './requireFreePort.ts'
import { Standing } from './standing.ts'

export interface Libp2pOptions {
  /** The genesis hash in hexadecimal: nodes of other chains are not talked to. */
  readonly genesisId: string
  /** What the node tells those who ask which chain it follows. */
  readonly genesisBytes: Uint8Array
  /** 32 bytes: the name of this node among its peers follows from them. */
  readonly secret: Uint8Array
  readonly host: string
  /** 0 takes any that is free. */
  readonly port: number
  /** Nodes to stay connected with, as host:port or multiaddr. */
  readonly bootstrap: readonly string[]
  /** Looks for nodes of this chain on the local network. */
  readonly isDiscovering: boolean
  /** What is cut off with those that come from there; tests, all on one machine, say so themselves. */
  readonly addressOf?: (remote: Multiaddr) => string | null
  /** How long a peer may take to ask, and to take its answer; tests have less patience. */
  readonly questionMs?: number
}

type Services = { pubsub: GossipSub; identify: object }
const MOST_CONNECTIONS = 96
/** Questions of one peer that are answered at a time. */
const MOST_OPEN_QUESTIONS = 8
const QUESTION_TIMEOUT_MS = 10_000
/** What a peer may ask in a second, and at once after a rest. */
const QUESTIONS_PER_SECOND = 100
const QUESTION_BURST = 200

const RESULTS: Readonly<Record<Judged, TopicValidatorResult>> = {
  accept: TopicValidatorResult.Accept,
  ignore: TopicValidatorResult.Ignore,
  reject: TopicValidatorResult.Reject,
}

/** Other nodes over TCP: Noise and Yamux, gossip that is judged before it is forwarded, questions with limits. */
export async function openLibp2pNetwork(options: Libp2pOptions, handlers: NetworkHandlers): Promise<Network> {
  const chain = options.genesisId.slice(0, 8)
  const standing = new Standing(() => Date.now())
  const addressOf = options.addressOf ?? usualAddress
  await requireFreePort(options.host, options.port)
  const node = await startNode(options, chain, standing)
  const protocol = `/ts1/${chain}/ask/3`
  const peers = new Map<string, PeerId>()
  const blame = (peer: PeerId) => {
    const [own] = node.getConnections(peer)
    const address = own === undefined ? null : addressOf(own.remoteAddr)
    const cut = standing.note(peer.toString(), address)
    if (cut === null) return
    const isGone = ({ remotePeer, remoteAddr }: Connection) =>
      remotePeer.equals(peer) || (cut === 'address' && addressOf(remoteAddr) === address)
    // Not a polite end, which waits for the other side.
    for (const connection of node.getConnections().filter(isGone)) connection.abort(new Error('cut off'))
  }
  listenToGossip(node, chain, handlers, blame)
  await node.handle(protocol, answering(handlers, blame, options.questionMs ?? QUESTION_TIMEOUT_MS), {
    maxInboundStreams: MOST_OPEN_QUESTIONS,
    maxOutboundStreams: MOST_OPEN_QUESTIONS,
  })
  await serveGenesis(node, options.genesisBytes)
  await node.register(protocol, {
    onConnect: (peer) => {
      peers.set(peer.toString(), peer)
      handlers.onPeer(peer.toString())
    },
    onDisconnect: (peer) => void peers.delete(peer.toString()),
  })
  const keeper = new Keeper(node, options.bootstrap)
  return {
    id: node.peerId.toString(),
    addresses: node.getMultiaddrs().map(String),
    // The library does not tell of every end of a connection.
    peers: () => [...peers].filter(([, peer]) => node.getConnections(peer).length > 0).map(([name]) => name),
    publish: async (topic, data) => {
      if (data.length > MOST_MESSAGE_BYTES) throw new RangeError('a message is longer than any may be')
      // Nobody may be there to hear it: what matters is fetched later.
      await node.services.pubsub.publish(`ts1/${chain}/${topic}`, data).catch(() => {})
    },
    request: async (name, data, limits) => {
      const peer = peers.get(name)
      return peer === undefined ? null : await ask(node, peer, protocol, data, limits)
    },
    report: (name) => {
      const peer = peers.get(name)
      if (peer !== undefined) blame(peer)
    },
    close: async () => {
      keeper.stop()
      await node.stop()
    },
  }
}

async function startNode(options: Libp2pOptions, chain: string, standing: Standing): Promise<Libp2p<Services>> {
  const { host, port, secret, addressOf = usualAddress } = options
  const isBanned = (peer: PeerId) => standing.isBanned(peer.toString())
  return await createLibp2p<Services>({
    privateKey: await generateKeyPairFromSeed('Ed25519', secret),
    addresses: { listen: [`/${host.includes(':') ? 'ip6' : 'ip4'}/${host}/tcp/${port}`] },
    transports: [tcp({ maxConnections: MOST_CONNECTIONS, inboundSocketInactivityTimeout: 60_000 })],
    connectionEncrypters: [noise()],
    streamMuxers: [yamux({ maxInboundStreams: 64, maxOutboundStreams: 64 })],
    connectionManager: {
      maxConnections: MOST_CONNECTIONS,
      maxIncomingPendingConnections: 16,
      inboundConnectionThreshold: 8,
      inboundUpgradeTimeout: 5_000,
    },
    connectionGater: {
      denyDialMultiaddr: () => false,
      denyDialPeer: isBanned,
      denyInboundConnection: ({ remoteAddr }) => standing.isAddressBanned(addressOf(remoteAddr)),
      denyInboundEncryptedConnection: isBanned,
    },
    ...(options.isDiscovering && { peerDiscovery: [mdns({ serviceTag: `ts1-${chain}.local`, interval: 10_000 })] }),
    services: { identify: identify(), pubsub: gossip(chain, standing) },
  })
}

function gossip(chain: string, standing: Standing) {
  return gossipsub({
    globalSignaturePolicy: StrictNoSign,
    // A message is named by its data alone: nobody makes two of one.
    msgIdFn: ({ data }) => createHash('sha256').update(data).digest(),
    allowedTopics: TOPICS.map((topic) => `ts1/${chain}/${topic}`),
    allowPublishToZeroTopicPeers: true,
    ignoreDuplicatePublishError: true,
    emitSelf: false,
    floodPublish: true,
    fallbackToFloodsub: false,
    doPX: false,
    heartbeatInterval: 700,
    // A block of the next slot waits up to six seconds before it is judged.
    mcacheLength: 16,
    maxInboundDataLength: MOST_MESSAGE_BYTES,
    maxInboundStreams: 4,
    maxOutboundStreams: 4,
    scoreParams: {
      appSpecificScore: (peer) => -10 * standing.faultsOf(peer),
      appSpecificWeight: 1,
      // Several nodes behind one address are no crime.
      IPColocationFactorWeight: 0,
    },
    scoreThresholds: { gossipThreshold: -40, publishThreshold: -60, graylistThreshold: -80 },
  })
}

function listenToGossip(
  node: Libp2p<Services>,
  chain: string,
  handlers: NetworkHandlers,
  blame: (peer: PeerId) => void,
): void {
  const { pubsub } = node.services
  for (const topic of TOPICS) {
    const name = `ts1/${chain}/${topic}`
    pubsub.topicValidators.set(name, async (peer, { data }) => {
      const judged = await handlers
        .onMessage(topic, new Uint8Array(data), peer.toString())
        .catch((): Judged => 'ignore')
      if (judged === 'reject') blame(peer)
      return RESULTS[judged]
    })
    pubsub.subscribe(name)
  }
}

/** A question that no honest node asks. */
class Hostile extends Error {}

const isTooLong = (error: unknown): boolean => error instanceof Error && /^Invalid.*Length/.test(error.name)

/** A copy of its own: a slice of what the library hands out would be a view into it. */
const plain = (bytes: { subarray(): Uint8Array }): Uint8Array => new Uint8Array(bytes.subarray())

/** Reads one question and writes one answer, within limits of size, time and number. */
function answering(handlers: NetworkHandlers, blame: (peer: PeerId) => void, questionMs: number) {
  const budgets = new Map<string, { left: number; atMs: number }>()
  const mayAsk = (peer: string): boolean => {
    const now = Date.now()
    const budget = budgets.get(peer) ?? { left: QUESTION_BURST, atMs: now }
    budget.left = Math.min(QUESTION_BURST, budget.left + ((now - budget.atMs) * QUESTIONS_PER_SECOND) / 1_000) - 1
    budget.atMs = now
    budgets.delete(peer)
    budgets.set(peer, budget)
    if (budgets.size > 4 * MOST_CONNECTIONS) budgets.delete(budgets.keys().next().value!)
    return budget.left >= 0
  }
  return async (stream: Stream, { remotePeer }: Connection): Promise<void> => {
    let signal = AbortSignal.timeout(questionMs)
    try {
      if (!mayAsk(remotePeer.toString())) throw new Hostile('too many questions')
      const frames = lpStream(stream, { maxDataLength: MOST_QUESTION_BYTES, maxBufferSize: 2 * MOST_QUESTION_BYTES })
      const answer = await handlers.onRequest(plain(await frames.read({ signal })), remotePeer.toString())
      if (answer === null) throw new Hostile('not a question')
      // How long the answer took is no fault of who asked.
      signal = AbortSignal.timeout(questionMs)
      await frames.write(answer, { signal })
      await stream.close({ signal })
    } catch (error) {
      // Who hung up has done nothing wrong; who lets us wait, or sends too much, has.
      if (error instanceof Hostile || signal.aborted || isTooLong(error)) blame(remotePeer)
      stream.abort(error instanceof Error ? error : new Error('failed'))
    }
  }
}

async function ask(
  node: Libp2p,
  peer: PeerId,
  protocol: string,
  data: Uint8Array,
  { mostBytes, timeoutMs }: RequestLimits,
): Promise<Uint8Array | null> {
  const signal = AbortSignal.timeout(timeoutMs)
  let stream: Stream | undefined
  try {
    stream = await node.dialProtocol(peer, protocol, { signal })
    const frames = lpStream(stream, { maxDataLength: mostBytes, maxBufferSize: 2 * mostBytes })
    await frames.write(data, { signal })
    const answer = plain(await frames.read({ signal }))
    void stream.close({ signal }).catch(() => {})
    return answer
  } catch (error) {
    stream?.abort(error instanceof Error ? error : new Error('failed'))
    return null
  }
}
