import type { Nvml } from './nvml.ts'

/** Driver errors of one card since the watch began. */
export interface XidWatch {
  /** Every number seen so far, each once, in order; waits at most so long for one more. */
  seen(waitMs?: number): readonly number[]
  close(): void
}

/** nvmlEventTypeXidCriticalError */
const XID = 8n
/** Of nvmlEventData_t: the card, the type, the Xid, two instance numbers. */
const EVENT_BYTES = 32
const TYPE_AT = 8
const DATA_AT = 16
const MOST_KINDS = 8
/** A card that floods us with events is heard out later. */
const MOST_AT_ONCE = 64

/** Null where the card or the account may not watch: nothing is said then. */
export function watchXids(nvml: Nvml, card: bigint): XidWatch | null {
  const set = new BigUint64Array(1)
  if (nvml.nvmlEventSetCreate(set) !== 0) return null
  const free = () => void nvml.nvmlEventSetFree(set[0]!)
  if (nvml.nvmlDeviceRegisterEvents(card, XID, set[0]!) !== 0) {
    free()
    return null
  }
  const kinds = new Set<number>()
  const bytes = new Uint8Array(EVENT_BYTES)
  const event = new DataView(bytes.buffer)
  const next = (waitMs: number) => nvml.nvmlEventSetWait_v2(set[0]!, bytes, waitMs) === 0
  return {
    seen: (waitMs = 0) => {
      for (let heard = 0; heard < MOST_AT_ONCE && next(heard === 0 ? waitMs : 0); heard++)
        if (event.getBigUint64(TYPE_AT, true) === XID && kinds.size < MOST_KINDS)
          kinds.add(Number(event.getBigUint64(DATA_AT, true)))
      return [...kinds]
    },
    close: free,
  }
}
