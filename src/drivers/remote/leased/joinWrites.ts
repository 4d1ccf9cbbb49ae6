import type { Duplex, Writable } from 'node:stream'

/** Well below what the other end takes as one message. */
const MOST_BYTES = 64 * 1024

/**
 * What is written in one turn goes out as one message, or as few as it needs. Without its native part the SSH library writes
 * a packet in three pieces, of 4 and 16 bytes two of them: the other end would cut off who tears packets apart (attack 505).
 */
export function joinWrites(stream: Duplex): Duplex {
  stream._writev = (pieces, done) => {
    const all = Buffer.concat(pieces.map(({ chunk }) => chunk as Buffer))
    const sendFrom = (from: number): void => {
      const to = from + MOST_BYTES
      stream._write(all.subarray(from, to), 'buffer' as BufferEncoding, (error) => {
        if (error || to >= all.length) done(error)
        else sendFrom(to)
      })
    }
    sendFrom(0)
  }
  const write: Writable['write'] = stream.write.bind(stream)
  stream.write = ((...piece: Parameters<Writable['write']>) => {
    if (stream.writableCorked === 0) {
      stream.cork()
      process.nextTick(() => stream.uncork())
    }
    return write(...piece)
  }) as Writable['write']
  return stream
}
