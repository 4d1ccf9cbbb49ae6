import type { Readable } from 'node:stream'

/** What may wait for the reader before the box is told to wait. */
const HELD_BYTES = 1024 * 1024

/** What a channel gives, each piece with the moment when it came, which `cameUs` tells of the one that is being read. */
export function stampedOutput(channel: Readable, nowUs: () => number) {
  const pieces: { readonly bytes: Uint8Array; readonly atUs: number }[] = []
  let [held, isOver, cameUs] = [0, false, 0]
  let wake = (): void => {}
  const take = (bytes: Buffer): void => {
    pieces.push({ bytes, atUs: nowUs() })
    held += bytes.length
    if (held > HELD_BYTES) channel.pause()
    wake()
  }
  channel.on('data', take)
  async function* read(): AsyncGenerator<Uint8Array> {
    for (;;) {
      const piece = pieces.shift()
      if (piece) {
        held -= piece.bytes.length
        if (held <= HELD_BYTES) channel.resume()
        cameUs = piece.atUs
        yield piece.bytes
      } else if (isOver) return
      else
        await new Promise<void>((resolve) => {
          wake = resolve
        })
    }
  }
  return {
    // Whoever stops reading leaves the rest to the next reader.
    output: { [Symbol.asyncIterator]: read },
    cameUs: () => cameUs,
    /** Nothing more is taken; what was is still read. */
    end: (): void => {
      channel.off('data', take)
      isOver = true
      wake()
    },
  }
}
