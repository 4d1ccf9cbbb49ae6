/** What nodes tell each other unasked. */
export const TOPICS = ['blocks', 'votes', 'commits', 'txs'] as const
export type Topic = (typeof TOPICS)[number]

/** Whether a message goes on to others; who sent a rejected one loses standing. */
export type Judged = 'accept' | 'ignore' | 'reject'

/** What a node does with what arrives. Everything in it is hostile. */
export interface NetworkHandlers {
  /** A message that came by gossip. It is forwarded when this says `accept`, never before. */
  onMessage(topic: Topic, data: Uint8Array, from: string): Promise<Judged>
  /** The answer to a question, or null if no honest node asks it: who did loses standing. Who is refused by a throw does not. */
  onRequest(data: Uint8Array, from: string): Promise<Uint8Array | null>
  /** A peer that can be asked from now on. */
  onPeer(peer: string): void
}

/** Of a node that only asks: what it is told goes no further, and who asks it hears nothing. */
export const ASKS_ONLY: NetworkHandlers = {
  onMessage: async () => 'ignore',
  onRequest: async () => {
    throw new Error('nothing is answered here')
  },
  onPeer: () => {},
}

/** The most that is read of an answer, and how long it may take. */
export interface RequestLimits {
  readonly mostBytes: number
  readonly timeoutMs: number
}

/** Other nodes of the same chain. Peers have names that they cannot choose freely: who lies cannot pose as another. */
export interface Network {
  /** Own name. */
  readonly id: string
  /** Where others reach this node, as they write it in their bootstrap list. */
  readonly addresses: readonly string[]
  peers(): readonly string[]
  publish(topic: Topic, data: Uint8Array): Promise<void>
  /** The answer of a peer; null if there is none in time, or it is too long. */
  request(peer: string, data: Uint8Array, limits: RequestLimits): Promise<Uint8Array | null>
  /** A peer sent something that no honest node sends. After a few of these it is cut off for a while. */
  report(peer: string): void
  close(): Promise<void>
}

/** Longest message of gossip: a block, with room for its offsets. */
export const MOST_MESSAGE_BYTES = (1 << 20) + 2_048
/** Longest question. */
export const MOST_QUESTION_BYTES = 1_024
/** Wrong messages or questions after which a peer is cut off, and for how long. */
export const MOST_FAULTS = 10
export const BAN_MS = 600_000
/** Names of one address that are cut off within that time before the address is: names are free, addresses are not. */
export const MOST_BANNED_NAMES = 3
