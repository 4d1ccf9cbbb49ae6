import type { WebSocket } from 'ws'
import { buckets } from '../../core/units/buckets.ts'

/**
 * Attack 437. A frame of six bytes takes as long to read as one that says something, and the library answers pings by itself,
 * however many, into the memory of whoever does not read the answers. We ping every 20 s, and a proxy in between may too.
 */
const CONTROLS = { atOnce: 64, perSecond: 1 }
/** Of what we have sent and the other end has not taken: who does not read is told no more. */
const MOST_UNREAD_BYTES = 64 * 1024

/** Messages of less than this: as many as SSH in small packets needs (countPackets.ts). */
const SMALL = { bytes: 1024, atOnce: 100_000, perSecond: 1000 }
/** No packet of SSH is as small, and no signed message: only what was torn apart on its way. */
const TINY = { bytes: 24, atOnce: 1000, perSecond: 10 }

/** Our own ends send every message whole. */
export const FRAMES = { autoPong: false, maxFragments: 4, maxBufferedChunks: 1024 } as const

interface Bounds {
  /** Whether one more word is listened to, besides the bounds of the connection; a ping is a word. */
  readonly maySpeak: () => boolean
  readonly cutOff: () => void
}

/** Answers pings, and cuts off who sends more frames than anybody needs, whoever it is, and also while we hang up. */
export function boundFrames(socket: WebSocket, { maySpeak, cutOff }: Bounds): void {
  const [control, small, tiny] = [bucket(CONTROLS), bucket(SMALL), bucket(TINY)]
  let over = false
  const mayGoOn = (within: boolean): boolean => {
    if (over) return false
    if (within && maySpeak()) return true
    over = true
    cutOff()
    return false
  }
  socket.on('ping', (data) => {
    if (mayGoOn(control()) && socket.bufferedAmount <= MOST_UNREAD_BYTES) socket.pong(data, undefined, () => {})
  })
  socket.on('pong', () => void mayGoOn(control()))
  socket.on('message', ({ length }: Buffer) => {
    mayGoOn(length >= SMALL.bytes || (length > 0 && small() && (length >= TINY.bytes || tiny())))
  })
}

function bucket(rules: Parameters<typeof buckets>[0]): () => boolean {
  const take = buckets(rules)
  return () => take('', 1000 * performance.now()) === 0
}
