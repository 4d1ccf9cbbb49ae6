import { toHex } from '../../core/bytes/hex.ts'
import { sha256 } from '../../core/bytes/sha256.ts'
import {
  MOST_MESSAGE_BYTES,
  MOST_QUESTION_BYTES,
  type Network,
  type NetworkHandlers,
  type RequestLimits,
  type Topic,
} from '../../ports/network.ts'
import { Standing } from './standing.ts'

interface Member {
  readonly id: string
  readonly handlers: NetworkHandlers
  readonly seen: Set<string>
  readonly standing: Standing
  /** Those it knows; all where nothing is said. */
  readonly near: ReadonlySet<string> | null
}

/** Messages that a member knows again. */
const MOST_SEEN = 4_096

const isLinked = (a: Member, b: Member): boolean =>
  (a.near === null && b.near === null) || a.near?.has(b.id) === true || b.near?.has(a.id) === true

/** Nodes of one process, connected with every other unless they say with whom. They can be parted. */
export class MemoryHub {
  private readonly members = new Map<string, Member>()
  private partOf: (id: string) => number = () => 0
  private joined = 0

  /** Members of different parts do not reach each other until the next call. */
  part(partOf: (id: string) => number): void {
    const before = this.partOf
    this.partOf = partOf
    for (const one of this.members.keys())
      for (const other of this.members.keys())
        if (one !== other && before(one) !== before(other) && partOf(one) === partOf(other)) this.introduce(one, other)
  }

  async join(
    handlers: NetworkHandlers,
    name = `node-${this.joined++}`,
    near: readonly string[] | null = null,
  ): Promise<Network> {
    const standing = new Standing(() => 0)
    const member: Member = { id: name, handlers, seen: new Set(), standing, near: near && new Set(near) }
    this.members.set(name, member)
    for (const other of this.neighbours(name)) {
      this.introduce(name, other.id)
      this.introduce(other.id, name)
    }
    return {
      id: name,
      addresses: [name],
      peers: () => this.neighbours(name).map(({ id }) => id),
      publish: async (topic, data) => {
        if (data.length > MOST_MESSAGE_BYTES) throw new RangeError('a message is longer than any may be')
        this.spread(member, topic, data.slice(), null)
      },
      request: (peer, data, limits) => this.request(member, peer, data, limits),
      report: (peer) => void member.standing.note(peer, null),
      close: async () => void this.members.delete(name),
    }
  }

  private introduce(to: string, peer: string): void {
    setImmediate(() => this.members.get(to)?.handlers.onPeer(peer))
  }

  private neighbours(id: string): Member[] {
    const self = this.members.get(id)
    const isNear = (other: Member) =>
      other.id !== id &&
      isLinked(self!, other) &&
      this.partOf(other.id) === this.partOf(id) &&
      !other.standing.isBanned(id) &&
      !self!.standing.isBanned(other.id)
    return self === undefined ? [] : [...this.members.values()].filter(isNear)
  }

  private spread(from: Member, topic: Topic, data: Uint8Array, source: string | null): void {
    from.seen.add(nameOf(topic, data))
    for (const to of this.neighbours(from.id))
      if (to.id !== source) setImmediate(() => void this.deliver(from.id, to, topic, data))
  }

  private async deliver(from: string, to: Member, topic: Topic, data: Uint8Array): Promise<void> {
    const name = nameOf(topic, data)
    if (to.seen.has(name) || !this.neighbours(to.id).some(({ id }) => id === from)) return
    to.seen.add(name)
    if (to.seen.size > MOST_SEEN) to.seen.delete(to.seen.values().next().value!)
    const judged = await to.handlers.onMessage(topic, data.slice(), from)
    if (judged === 'reject') to.standing.note(from, null)
    if (judged === 'accept') this.spread(to, topic, data, from)
  }

  private async request(self: Member, peer: string, data: Uint8Array, { mostBytes }: RequestLimits) {
    const to = this.neighbours(self.id).find(({ id }) => id === peer)
    if (to === undefined || data.length > MOST_QUESTION_BYTES) return null
    const answer = await to.handlers.onRequest(data.slice(), self.id).catch(() => undefined)
    if (answer === null) to.standing.note(self.id, null)
    return answer === undefined || answer === null || answer.length > mostBytes ? null : answer.slice()
  }
}

const nameOf = (topic: Topic, data: Uint8Array): string => `${topic}/${toHex(sha256(data))}`
