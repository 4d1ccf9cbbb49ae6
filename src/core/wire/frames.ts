import { concatBytes, u32le } from '../bytes/bytes.ts'
import { ByteReader, DecodeError } from '../bytes/reader.ts'
import { CODECS, type Message, type MessageType } from './messages.ts'

const TYPE_BY_ID = new Map((Object.keys(CODECS) as MessageType[]).map((type) => [CODECS[type].id, type] as const))

/** A message as one frame. */
export function encodeFrame<M extends Message>(message: M): Uint8Array {
  const codec = CODECS[message.type] as unknown as { id: number; encode(message: M): Uint8Array }
  const body = codec.encode(message)
  return concatBytes(u32le(body.length + 1), Uint8Array.of(codec.id), body)
}

/**
 * Cuts a byte stream into messages, strictly: an unknown type, a body over its type's limit or with a byte too many
 * throws DecodeError. Never holds more than one frame of the largest allowed size.
 */
export class FrameDecoder {
  readonly #accepted: ReadonlySet<MessageType>
  #pending: Uint8Array[] = []
  #size = 0

  constructor(accepted: readonly MessageType[]) {
    this.#accepted = new Set(accepted)
  }

  /** The messages completed by these bytes, in order. */
  *push(bytes: Uint8Array): Generator<Message> {
    this.#pending.push(bytes)
    this.#size += bytes.length
    for (let frame = this.#take(); frame; frame = this.#take()) yield frame
  }

  /** True while a frame has begun and not ended: half a message. */
  get partial(): boolean {
    return this.#size > 0
  }

  #take(): Message | null {
    if (this.#size < 5) return null
    const head = this.#peek(5)
    const length = new DataView(head.buffer, head.byteOffset).getUint32(0, true)
    const type = TYPE_BY_ID.get(head[4]!)
    if (!type || !this.#accepted.has(type)) throw new DecodeError('frame: a type not expected here')
    if (length - 1 > CODECS[type].limit || length < 1)
      throw new DecodeError(`frame: a body of ${length - 1} bytes, at most ${CODECS[type].limit} allowed`)
    if (this.#size < 4 + length) return null
    const all = this.#pending.length === 1 ? this.#pending[0]! : concatBytes(...this.#pending)
    const reader = new ByteReader(all.subarray(5, 4 + length))
    this.#pending = [all.subarray(4 + length)]
    this.#size -= 4 + length
    const message = { type, ...CODECS[type].decode(reader) } as Message
    reader.end(type)
    return message
  }

  #peek(length: number): Uint8Array {
    if (this.#pending[0]!.length < length) this.#pending = [concatBytes(...this.#pending)]
    return this.#pending[0]!
  }
}
