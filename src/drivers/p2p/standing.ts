import { BAN_MS, MOST_BANNED_NAMES, MOST_FAULTS } from '../../ports/network.ts'

/** A fault is forgiven after this long. */
const FORGIVEN_MS = 60_000
/** Peers that are remembered: names cost nothing, so the oldest give way. */
const MOST_REMEMBERED = 4_096

interface Record {
  faults: number
  sinceMs: number
  bannedUntilMs: number
}

/** Faults of many, each forgiven after a while. */
class Book {
  private readonly records = new Map<string, Record>()
  private readonly nowMs: () => number
  private readonly most: number
  private readonly forgivenMs: number

  constructor(nowMs: () => number, most: number, forgivenMs: number) {
    this.nowMs = nowMs
    this.most = most
    this.forgivenMs = forgivenMs
  }

  /** Counts a fault; true if it was the last one that is borne. */
  note(name: string): boolean {
    const record = this.records.get(name) ?? { faults: 0, sinceMs: this.nowMs(), bannedUntilMs: 0 }
    record.faults = this.faultsOf(name) + 1
    record.sinceMs = this.nowMs()
    this.records.delete(name)
    this.records.set(name, record)
    if (this.records.size > MOST_REMEMBERED) this.records.delete(this.records.keys().next().value!)
    if (record.faults < this.most) return false
    record.bannedUntilMs = this.nowMs() + BAN_MS
    record.faults = 0
    return true
  }

  faultsOf(name: string): number {
    const record = this.records.get(name)
    if (record === undefined) return 0
    return Math.max(0, record.faults - Math.floor((this.nowMs() - record.sinceMs) / this.forgivenMs))
  }

  isBanned(name: string): boolean {
    return (this.records.get(name)?.bannedUntilMs ?? 0) > this.nowMs()
  }
}

/** What is held against each peer, and against the address that peers come from. */
export class Standing {
  private readonly names: Book
  private readonly addresses: Book

  constructor(nowMs: () => number) {
    this.names = new Book(nowMs, MOST_FAULTS, FORGIVEN_MS)
    this.addresses = new Book(nowMs, MOST_BANNED_NAMES, BAN_MS)
  }

  /** Counts a fault of a peer, and says what it cuts off. An address that is null is never cut off. */
  note(peer: string, address: string | null): 'name' | 'address' | null {
    if (!this.names.note(peer)) return null
    return address !== null && this.addresses.note(address) ? 'address' : 'name'
  }

  faultsOf(peer: string): number {
    return this.names.faultsOf(peer)
  }

  isBanned(peer: string): boolean {
    return this.names.isBanned(peer)
  }

  isAddressBanned(address: string | null): boolean {
    return address !== null && this.addresses.isBanned(address)
  }
}
