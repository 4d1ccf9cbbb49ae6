/** Bytes from one side of this process to the other. `write` waits while the reader is far behind, as a pipe does. */
export class BytePipe implements AsyncIterable<Uint8Array> {
  readonly #high: number
  #chunks: Uint8Array[] = []
  #held = 0
  #ended = false
  #wakeReader = () => {}
  #wakeWriters: (() => void)[] = []

  constructor(highBytes = 65_536) {
    this.#high = highBytes
  }

  get heldBytes(): number {
    return this.#held
  }

  async write(bytes: Uint8Array): Promise<void> {
    if (this.#ended) throw new Error('the pipe is closed')
    if (bytes.length === 0) return
    this.#chunks.push(bytes)
    this.#held += bytes.length
    this.#wakeReader()
    while (this.#held > this.#high && !this.#ended)
      await new Promise<void>((resolve) => {
        this.#wakeWriters.push(resolve)
      })
  }

  end(): void {
    this.#ended = true
    this.#wakeReader()
    for (const wake of this.#wakeWriters.splice(0)) wake()
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Uint8Array> {
    for (;;) {
      const chunks = this.#chunks
      if (chunks.length > 0) {
        this.#chunks = []
        for (const chunk of chunks) {
          this.#held -= chunk.length
          if (this.#held <= this.#high) for (const wake of this.#wakeWriters.splice(0)) wake()
          yield chunk
        }
      } else if (this.#ended) return
      else
        await new Promise<void>((resolve) => {
          this.#wakeReader = resolve
        })
    }
  }
}
