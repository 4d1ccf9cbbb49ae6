import { BAN_MS, MOST_FAULTS } from '../../ports/network.ts'

/** A fault is forgiven after this long. */
const FORGIVEN_MS = 60_000
/** Peers that are remembered: names cost nothing, so the oldest give way. */
const MOST_REMEMBERED = 4_096

interface Record {
  faults: number
  sinceMs: number
  bannedUntilMs: number
}

/** What is held against each peer. */
export class Standing {
  private readonly records = new Map<string, Record>()
  private readonly nowMs: () => number

  constructor(nowMs: () => number) {
    this.nowMs = nowMs
  }

  /** Counts a fault; true if it was the last one that is borne. */
  note(peer: string): boolean {
    const record = this.records.get(peer) ?? { faults: 0, sinceMs: this.nowMs(), bannedUntilMs: 0 }
    record.faults = this.faultsOf(peer) + 1
    record.sinceMs = this.nowMs()
    this.records.delete(peer)
    this.records.set(peer, record)
    if (this.records.size > MOST_REMEMBERED) this.records.delete(this.records.keys().next().value!)
    if (record.faults < MOST_FAULTS) return false
    record.bannedUntilMs = this.nowMs() + BAN_MS
    record.faults = 0
    return true
  }

  faultsOf(peer: string): number {
    const record = this.records.get(peer)
    if (record === undefined) return 0
    return Math.max(0, record.faults - Math.floor((this.nowMs() - record.sinceMs) / FORGIVEN_MS))
  }

  isBanned(peer: string): boolean {
    return (this.records.get(peer)?.bannedUntilMs ?? 0) > this.nowMs()
  }
}
