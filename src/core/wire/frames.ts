import { concatBytes, u32le } from '../bytes/bytes.ts'
import { ByteReader, DecodeError } from '../bytes/reader.ts'
import { CODECS, type Message, type MessageType } from './messages.ts'

const TYPE_BY_ID = new Map((Object.keys(CODECS) as MessageType[]).map((type) => [CODECS[type].id, type] as const))

/** Length and type. */
const HEAD_BYTES = 5

/** A buffer larger than this is given back when it is empty. */
const SPARE_BYTES = 65_536

/** A message as one frame. */
export function encodeFrame(message: Message): Uint8Array {
  const codec: { readonly id: number; encode(message: never): Uint8Array } = CODECS[message.type]
  const body = codec.encode(message as never)
  return concatBytes(u32le(body.length + 1), Uint8Array.of(codec.id), body)
}

/**
 * Cuts a byte stream into messages, strictly: an unknown type, a body over its type's limit or with a byte too many
 * throws DecodeError. Holds at most one frame of the largest allowed size and the last chunk, in one buffer: the same
 * bytes cost the same memory whether they come in one piece or one by one.
 */
export class FrameDecoder {
  readonly #accepted: ReadonlySet<MessageType>
  #buffer = new Uint8Array(0)
  #from = 0
  #to = 0

  constructor(accepted: readonly MessageType[]) {
    this.#accepted = new Set(accepted)
  }

  /** The messages completed by these bytes, in order. */
  *push(bytes: Uint8Array): Generator<Message> {
    this.#append(bytes)
    for (let frame = this.#take(); frame; frame = this.#take()) yield frame
  }

  /** True while a frame has begun and not ended: half a message. */
  get partial(): boolean {
    return this.#to > this.#from
  }

  #append(bytes: Uint8Array): void {
    const held = this.#buffer.subarray(this.#from, this.#to)
    if (this.#to + bytes.length > this.#buffer.length) {
      const needed = held.length + bytes.length
      // Doubling keeps the copying linear, whatever the size of the pieces.
      const target = needed > this.#buffer.length ? new Uint8Array(Math.max(needed, 2 * held.length)) : this.#buffer
      target.set(held)
      this.#buffer = target
      this.#from = 0
      this.#to = held.length
    }
    this.#buffer.set(bytes, this.#to)
    this.#to += bytes.length
  }

  #take(): Message | null {
    const held = this.#to - this.#from
    if (held < HEAD_BYTES) return null
    const length = new DataView(this.#buffer.buffer, this.#from).getUint32(0, true)
    const type = TYPE_BY_ID.get(this.#buffer[this.#from + 4]!)
    if (!type || !this.#accepted.has(type)) throw new DecodeError('frame: a type not expected here')
    if (length - 1 > CODECS[type].limit || length < 1)
      throw new DecodeError(`frame: a body of ${length - 1} bytes, at most ${CODECS[type].limit} allowed`)
    if (held < 4 + length) return null
    const reader = new ByteReader(this.#buffer.subarray(this.#from + HEAD_BYTES, this.#from + 4 + length))
    this.#from += 4 + length
    const message = { type, ...CODECS[type].decode(reader) } as Message
    reader.end(type)
    if (this.#from === this.#to) this.#reset()
    return message
  }

  #reset(): void {
    this.#from = 0
    this.#to = 0
    if (this.#buffer.length > SPARE_BYTES) this.#buffer = new Uint8Array(0)
  }
}
