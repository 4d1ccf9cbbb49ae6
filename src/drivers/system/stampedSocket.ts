import { Duplex } from 'node:stream'
import { Worker } from 'node:worker_threads'
import type { HeardBy } from '../../core/schedule/runWindow.ts'
import { scriptUrl } from './scriptUrl.ts'
import {
  type Broken,
  type Destination,
  type FromStamper,
  heardAt,
  type Stall,
  type ToStamper,
} from './stampMessages.ts'
import { systemClock } from './systemClock.ts'

/** Longer than any run lasts, and bounded whatever happens there. */
const MOST_STALLS = 4096

type OfLine = Extract<FromStamper, { readonly id: number }>
type OfDoor = Extract<FromStamper, { readonly door: number }>

/**
 * A thread that holds connections, and does nothing but say when which bytes came. Whoever keeps our own thread busy, by
 * whatever is dear to read, does not change when the roots of another box came (attack 447).
 */
class Stamper {
  readonly #worker = new Worker(scriptUrl('./stampWorker.ts', import.meta.url), { execArgv: [] })
  readonly #lines = new Map<number, StampedSocket>()
  readonly #doors = new Map<number, (news: OfDoor) => void>()
  readonly #stalls: Stall[] = []
  #names = 0
  #hasBegun = false

  /** `whenFailed` is called where it could not begin; whatever was asked of it fails. */
  constructor(whenFailed: () => void) {
    this.#worker.unref()
    this.#worker.on('message', (news: FromStamper) => {
      if ('begun' in news) this.#hasBegun = true
      else if ('stall' in news) this.#note(news.stall)
      else if ('door' in news) this.#doors.get(news.door)?.(news)
      else this.#lines.get(news.id)?.hear(news)
    })
    this.#worker.on('error', (error: NodeJS.ErrnoException) => {
      // It is a part of us: without it every box would seem to have hung up. Before it has begun it holds none (attack 480).
      if (this.#hasBegun) throw error
      whenFailed()
      const { code = '', message } = error
      for (const [id, line] of this.#lines) line.hear({ id, closed: { code, message } })
      for (const [door, hear] of this.#doors) hear({ door, listening: { code, message } })
    })
  }

  tell(order: ToStamper, transfer: ArrayBuffer[] = []): void {
    this.#worker.postMessage(order, transfer)
  }

  newName(): number {
    return ++this.#names
  }

  /** It keeps the process alive while it holds something, as a socket does. */
  addLine(id: number, line: StampedSocket): void {
    this.#lines.set(id, line)
    this.#worker.ref()
  }

  addDoor(door: number, hear: (news: OfDoor) => void): void {
    this.#doors.set(door, hear)
    this.#worker.ref()
  }

  remove(name: number): void {
    this.#lines.delete(name)
    this.#doors.delete(name)
    if (this.#lines.size + this.#doors.size === 0) this.#worker.unref()
  }

  heardBy(atUs: number): number {
    return heardAt(this.#stalls, atUs)
  }

  #note(stall: Stall): void {
    this.#stalls.push(stall)
    if (this.#stalls.length > MOST_STALLS) this.#stalls.shift()
  }
}

let running: Stamper | null = null

/** One for all connections, from the first on, and another after one that could not begin. */
function stamper(): Stamper {
  running ??= new Stamper(() => {
    running = null
  })
  return running
}

/** When that thread had heard all that came by a moment (§8.14). */
export const heardBy: HeardBy = (atUs) => running?.heardBy(atUs) ?? atUs

/** A TCP connection whose bytes are stamped when they come. Rejects with the error of the system, code and all. */
export async function dialStamped(to: Destination, signal: AbortSignal): Promise<StampedSocket> {
  signal.throwIfAborted()
  const thread = stamper()
  const id = thread.newName()
  const socket = new StampedSocket(thread, id, to.host)
  thread.tell({ id, dial: to })
  const abort = () => void socket.destroy(signal.reason)
  signal.addEventListener('abort', abort, { once: true })
  try {
    await socket.opened
    return socket
  } finally {
    signal.removeEventListener('abort', abort)
  }
}

/** A port whose callers are held by that thread. */
export async function listenStamped(where: Destination, onSocket: (socket: StampedSocket) => void) {
  const thread = stamper()
  const door = thread.newName()
  const port = await new Promise<number>((resolve, reject) => {
    thread.addDoor(door, (news) => {
      if ('accepted' in news) onSocket(new StampedSocket(thread, news.accepted, news.remoteAddress))
      else if (typeof news.listening === 'number') resolve(news.listening)
      else {
        thread.remove(door)
        reject(errorOf(news.listening))
      }
    })
    thread.tell({ door, listen: where })
  })
  const close = (): void => {
    thread.tell({ door, listen: null })
    thread.remove(door)
  }
  return { port, close }
}

/** A stream over one of these, of which each piece is handed on at once, has its stamps. */
export const stampedBy = <S extends Duplex>(stream: S, cameUs: () => number): S =>
  Object.defineProperty(stream, 'cameUs', { get: cameUs })

/** When what comes out of a stream now came in; where nobody stamped it, just now. */
export const cameUsOf = (stream: Duplex): (() => number) =>
  'cameUs' in stream ? () => (stream as StampedSocket).cameUs : systemClock.monotonicUs

const errorOf = ({ code, message }: Broken): Error => Object.assign(new Error(message), { code })

export class StampedSocket extends Duplex {
  readonly remoteAddress: string
  readonly opened: Promise<void>
  readonly #thread: Stamper
  readonly #id: number
  #open = (): void => {}
  #fail = (_: Error): void => {}
  #written: (() => void) | null = null
  /** Came, and is not taken yet. */
  #owed = 0
  #cameUs = 0
  #idle: NodeJS.Timeout | null = null

  constructor(thread: Stamper, id: number, remoteAddress: string) {
    super()
    this.remoteAddress = remoteAddress
    this.#thread = thread
    this.#id = id
    this.opened = new Promise((resolve, reject) => {
      this.#open = resolve
      this.#fail = reject
    })
    // Whoever waits for it hears of what broke there, and whoever uses it by its end.
    this.opened.catch(() => {})
    this.on('error', () => {})
    thread.addLine(id, this)
  }

  /** When what is being read now came, or a moment later: never before. */
  get cameUs(): number {
    return this.#cameUs
  }

  hear(news: OfLine): void {
    this.#idle?.refresh()
    if ('bytes' in news) {
      this.#cameUs = news.atUs
      if (this.push(news.bytes)) this.#take(news.bytes.length)
      else this.#owed += news.bytes.length
    } else if ('written' in news) this.#written?.()
    else if ('open' in news) this.#open()
    else if ('ended' in news) this.push(null)
    else this.destroy(news.closed ? errorOf(news.closed) : undefined)
  }

  /** As that of a socket: `timeout` after so long without a byte to or fro. */
  setTimeout(ms: number): this {
    if (this.#idle) clearTimeout(this.#idle)
    this.#idle = ms > 0 ? setTimeout(() => this.emit('timeout'), ms).unref() : null
    return this
  }

  override _read(): void {
    if (this.#owed > 0) this.#take(this.#owed)
    this.#owed = 0
  }

  override _write(piece: Uint8Array, _: BufferEncoding, done: () => void): void {
    const write = new Uint8Array(piece)
    this.#written = done
    this.#thread.tell({ id: this.#id, write }, [write.buffer])
  }

  override _final(done: () => void): void {
    this.#thread.tell({ id: this.#id, close: 'end' })
    done()
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    this.setTimeout(0)
    this.#fail(error ?? new Error('the connection was closed'))
    this.#thread.tell({ id: this.#id, close: 'destroy' })
    this.#thread.remove(this.#id)
    done(error)
  }

  #take(taken: number): void {
    this.#thread.tell({ id: this.#id, taken })
  }
}
