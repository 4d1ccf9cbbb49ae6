import { concatBytes } from '../../../core/bytes/bytes.ts'

/** So many pieces become one in a read. */
const MOST_CHUNKS = 8192

/** Bytes between a stream that pushes and one reader that pulls; tells the stream when to pause and when to go on. */
export class ByteQueue implements AsyncIterable<Uint8Array> {
  readonly #high: number
  readonly #flow: { pause(): void; resume(): void }
  #chunks: Uint8Array[] = []
  #held = 0
  #paused = false
  #ended = false
  #wake: () => void = () => {}

  constructor(highBytes: number, flow: { pause(): void; resume(): void }) {
    this.#high = highBytes
    this.#flow = flow
  }

  get heldBytes(): number {
    return this.#held
  }

  push(chunk: Uint8Array): void {
    if (this.#ended || chunk.length === 0) return
    this.#chunks.push(chunk)
    this.#held += chunk.length
    if (this.#held >= this.#high && !this.#paused) {
      this.#paused = true
      this.#flow.pause()
    }
    this.#wake()
  }

  end(): void {
    this.#ended = true
    this.#wake()
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Uint8Array> {
    for (;;) {
      // All at once: a box that sends its bytes one by one must not make every read move what is left (attack 45).
      const chunk = concatBytes(...this.#chunks.splice(0, MOST_CHUNKS))
      if (chunk.length === 0) {
        if (this.#ended) return
        await new Promise<void>((resolve) => {
          this.#wake = resolve
        })
        continue
      }
      this.#held -= chunk.length
      if (this.#paused && this.#held <= this.#high / 2) {
        this.#paused = false
        this.#flow.resume()
      }
      yield chunk
    }
  }
}
