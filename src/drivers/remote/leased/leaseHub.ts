import { EventEmitter, once } from 'node:events'
import type { Duplex } from 'node:stream'
import { createWebSocketStream, type WebSocket } from 'ws'
import { decodeAnswer, isFresh } from '../../../core/lease/leaseMessages.ts'
import type { Seat } from '../../../ports/leases.ts'
import type { DoorRules } from '../../system/keepDoor.ts'
import { stampedBy } from '../../system/stampedSocket.ts'
import { listenBehindStamps, listenWs, TUNNEL_PATH, wsCameUs, wsChannel } from '../../system/wsChannel.ts'
import type { ProviderLine } from './askProvider.ts'
import { joinWrites } from './joinWrites.ts'

/** Where providers behind NAT dial in: one channel each for messages, and a connection per tunnel. */
export type LeaseHub = Awaited<ReturnType<typeof openLeaseHub>>

/** What is offered under a name and waited for under it, whichever comes first; the newest offer counts. */
class Meeting<T> {
  readonly #shared: boolean
  readonly #offers = new Map<string, T>()
  readonly #arrivals = new EventEmitter().setMaxListeners(0)

  /** A shared offer stays for the next one who asks; any other serves once. */
  constructor(shared: boolean) {
    this.#shared = shared
  }

  offer(name: string, value: T): void {
    this.#offers.set(name, value)
    this.#arrivals.emit(name)
  }

  withdraw(name: string, value: T): void {
    if (this.#offers.get(name) === value) this.#offers.delete(name)
  }

  async take(name: string, signal: AbortSignal): Promise<T> {
    signal.throwIfAborted()
    while (!this.#offers.has(name)) await once(this.#arrivals, name, { signal })
    const offer = this.#offers.get(name)!
    if (!this.#shared) this.#offers.delete(name)
    return offer
  }
}

const MAX_STRANGERS = 4096

/** Somebody who dialled in, and the place it has. */
interface Caller {
  readonly socket: WebSocket
  readonly seat: Seat
}

export interface HubDoor {
  /** Hex key of the validator: greetings to anybody else are refused. */
  readonly self: string
  /** Providers that may stay; a stranger with a key of its own would fill the hub otherwise. */
  readonly accepts: (key: string) => Promise<boolean>
  readonly rules?: Partial<DoorRules>
}

export async function openLeaseHub(where: { readonly host: string; readonly port: number }, door: HubDoor) {
  const lines = new Meeting<ProviderLine>(true)
  const tunnels = new Meeting<Caller>(false)
  const isNew = newGreetings()
  const listener = await listenWs(
    where,
    (socket, path, seat) => {
      if (path === TUNNEL_PATH) acceptTunnel({ socket, seat }, tunnels)
      else void acceptLine({ socket, seat }, lines, { ...door, isNew })
    },
    { places: MAX_STRANGERS, ...door.rules },
    listenBehindStamps,
  )
  return {
    port: listener.port,
    /** The provider with this key, now or as soon as it dials in. */
    line: (key: string, signal: AbortSignal) => lines.take(key, signal),
    tunnel: async (token: string, signal: AbortSignal): Promise<Duplex> => {
      const { socket, seat } = await tunnels.take(token, signal)
      seat.known(token)
      const stream = stampedBy(joinWrites(createWebSocketStream(socket)), wsCameUs(socket))
      stream.on('error', () => socket.terminate())
      return stream
    },
    close: () => listener.close(),
  }
}

/** The first message must be a greeting to us, signed by the provider. */
async function acceptLine(
  { socket, seat }: Caller,
  lines: Meeting<ProviderLine>,
  { self, accepts, isNew }: HubDoor & { readonly isNew: (key: string, sentAtMs: number) => boolean },
): Promise<void> {
  const channel = wsChannel(socket)
  const first = await channel.messages[Symbol.asyncIterator]().next()
  seat.heard()
  try {
    const { from, message } = decodeAnswer(first.value as Uint8Array, self)
    if (message.kind !== 'hello' || !(await accepts(from))) return socket.terminate()
    if (!isNew(from, message.sentAtMs)) return socket.terminate()
    if (socket.readyState !== socket.OPEN) return
    seat.known(from)
    const line = { channel, key: from }
    lines.offer(from, line)
    socket.once('close', () => lines.withdraw(from, line))
  } catch {
    socket.terminate()
  }
}

/** A greeting works once: whoever recorded one must not take the place of the provider who sent it. */
function newGreetings(): (key: string, sentAtMs: number) => boolean {
  const latest = new Map<string, number>()
  return (key, sentAtMs) => {
    if (!isFresh(sentAtMs, Date.now()) || sentAtMs <= (latest.get(key) ?? 0)) return false
    latest.set(key, sentAtMs)
    return true
  }
}

/** One that nobody asks for is idle, and goes as such; an honest provider dials the next one at once. */
function acceptTunnel(tunnel: Caller, tunnels: Meeting<Caller>): void {
  const { socket, seat } = tunnel
  socket.once('message', (data) => {
    seat.heard()
    const token = (data as Buffer).toString('hex')
    if (token.length !== 64) return socket.terminate()
    tunnels.offer(token, tunnel)
    socket.once('close', () => tunnels.withdraw(token, tunnel))
  })
}
