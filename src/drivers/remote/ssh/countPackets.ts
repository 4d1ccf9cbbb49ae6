/**
 * Attack 430. Flow control holds for the data of a channel alone: whatever else a server sends, or in tiny pieces, takes the
 * time of the thread by whose clock all other boxes are measured, and may ask for an answer. In units of about 5 µs: far more
 * than a login, an upload and a run take, and far less than anybody would notice.
 */
const MOST = 20_000
const PER_SECOND = 500
const UNITS = { CHANNEL_WINDOW_ADJUST: 1, other: 5 }

/** So small a piece of data costs more to take in than it says. A root has 49 bytes. */
const SMALL_BYTES = 24

/** Hears what the library tells of each packet; `onTooMany` is called when there were too many. */
export function countPackets(onTooMany: () => void, nowMs: () => number): (told: string) => void {
  const sinceMs = nowMs()
  let spent = 0
  return (told) => {
    spent = Math.max(0, spent + unitsOf(told))
    if (spent > MOST + (PER_SECOND * (nowMs() - sinceMs)) / 1000) onTooMany()
  }
}

const DATA = /^Inbound: CHANNEL_(?:EXTENDED_)?DATA \(.*?(\d+)\)$/

function unitsOf(told: string): number {
  // A key exchange tells of a dozen things, which is about what it costs.
  if (told.startsWith('Handshake')) return UNITS.other
  // The server says what it has taken in of what we send: at most once for each packet.
  if (told.startsWith('Outbound: Sending CHANNEL_DATA')) return -UNITS.CHANNEL_WINDOW_ADJUST
  if (!told.startsWith('Inbound')) return 0
  const bytes = DATA.exec(told)?.[1]
  if (bytes !== undefined) return Math.max(0, 1 - Number(bytes) / SMALL_BYTES)
  return told.includes('CHANNEL_WINDOW_ADJUST') ? UNITS.CHANNEL_WINDOW_ADJUST : UNITS.other
}
