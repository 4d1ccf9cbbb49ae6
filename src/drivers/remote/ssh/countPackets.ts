/**
 * Attack 430. Flow control holds for the data of a channel alone: whatever else a server sends, or in tiny pieces, takes the
 * time of the thread by whose clock all other boxes are measured, and may ask for an answer. In units of about 5 µs: far more
 * than a login, an upload and a run take, and far less than anybody would notice.
 */
const MOST = 20_000
const PER_SECOND = 500
const UNITS = { CHANNEL_WINDOW_ADJUST: 1, other: 5 }

/** So small a piece of data costs more to take in than it says. A root has 49 bytes. */
const TINY_BYTES = 24

/** Pieces of data of less than 1 KiB, whatever their channel: more than 32 devices with a packet for each root send. */
const SMALL = { bytes: 1024, most: 100_000, perSecond: 1000 }

/** Hears what the library tells of each packet; `onTooMany` is called when there were too many. */
export function countPackets(onTooMany: () => void, nowMs: () => number): (told: string) => void {
  const sinceMs = nowMs()
  let [spent, small] = [0, 0]
  return (told) => {
    const data = DATA.exec(told)?.[1]
    const bytes = data === undefined ? null : Number(data)
    if (bytes !== null && bytes < SMALL.bytes) small++
    spent = Math.max(0, spent + (bytes === null ? unitsOf(told) : Math.max(0, 1 - bytes / TINY_BYTES)))
    const seconds = (nowMs() - sinceMs) / 1000
    if (spent > MOST + PER_SECOND * seconds || small > SMALL.most + SMALL.perSecond * seconds) onTooMany()
  }
}

const DATA = /^Inbound: CHANNEL_(?:EXTENDED_)?DATA \(.*?(\d+)\)$/

function unitsOf(told: string): number {
  // A key exchange tells of a dozen things, which is about what it costs.
  if (told.startsWith('Handshake')) return UNITS.other
  // The server says what it has taken in of what we send: at most once for each packet.
  if (told.startsWith('Outbound: Sending CHANNEL_DATA')) return -UNITS.CHANNEL_WINDOW_ADJUST
  if (!told.startsWith('Inbound')) return 0
  return told.includes('CHANNEL_WINDOW_ADJUST') ? UNITS.CHANNEL_WINDOW_ADJUST : UNITS.other
}
