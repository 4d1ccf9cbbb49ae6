import { once } from 'node:events'
import { type ClientRequest, createServer, type Server } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { WebSocket, WebSocketServer } from 'ws'
import { MAX_LEASE_MESSAGE_BYTES } from '../../core/lease/leaseMessages.ts'
import type { MessageChannel, Seat } from '../../ports/leases.ts'
import { boundFrames, FRAMES } from './boundFrames.ts'
import { fault } from './faults.ts'
import { plainAddress } from './hostAddresses.ts'
import { type DoorRules, keepDoor, refuseManyRequests } from './keepDoor.ts'
import { noRoom } from './noRoom.ts'
import { readNoMore, watchPieces } from './readNoMore.ts'
import { cameUsOf, listenStamped } from './stampedSocket.ts'
import type { Destination } from './stampMessages.ts'

/** More messages than this wait for nobody: whoever floods is cut off. */
const MAX_WAITING = 64
/** A stranger who has spoken may say more within this; a known key is kept for as long as it answers pings. */
const IDLE_MS = 60_000
const MAX_STRANGERS = 256
const HANDSHAKE_MS = 10_000
const PING_MS = 20_000

export const MESSAGES = { ...FRAMES, maxPayload: MAX_LEASE_MESSAGE_BYTES, perMessageDeflate: false } as const
/** Tunnels carry SSH, in pieces of our choosing. */
export const TUNNEL = { ...FRAMES, maxPayload: 256 * 1024, perMessageDeflate: false } as const

/** What each WebSocket reads from. */
const wires = new WeakMap<WebSocket, Socket>()

/** Ends it now: of what has come already nothing more is read. */
function cutOff(socket: WebSocket): void {
  socket.terminate()
  const wire = wires.get(socket)
  if (wire !== undefined) readNoMore(wire)
}

/** A WebSocket as a channel of small messages; text, floods and oversized messages end it. */
export function wsChannel(socket: WebSocket): MessageChannel {
  const waiting: Uint8Array[] = []
  let ended = false
  let wake = (): void => {}
  socket.on('message', (data, isBinary) => {
    const bytes = data as Buffer
    // It was cut off for this very message.
    if (socket.readyState !== WebSocket.OPEN) return
    if (!isBinary || waiting.length >= MAX_WAITING || bytes.length > MAX_LEASE_MESSAGE_BYTES) return cutOff(socket)
    waiting.push(new Uint8Array(bytes))
    wake()
  })
  socket.on('error', () => socket.terminate())
  socket.once('close', () => {
    ended = true
    wake()
  })
  keepAlive(socket)
  async function* messages(): AsyncGenerator<Uint8Array> {
    for (;;) {
      const next = waiting.shift()
      if (next !== undefined) yield next
      else if (ended) return
      else
        await new Promise<void>((resolve) => {
          wake = resolve
        })
    }
  }
  return {
    messages: messages(),
    send: (message) =>
      new Promise((resolve, reject) =>
        socket.send(message, (error) => (error ? reject(fault('CHANNEL_CLOSED', {}, error)) : resolve())),
      ),
    close: () => socket.close(),
  }
}

/** Whoever vanished without a word is noticed within two pings. */
function keepAlive(socket: WebSocket): void {
  let answered = true
  const timer = setInterval(() => {
    if (!answered) return socket.terminate()
    answered = false
    socket.ping()
  }, PING_MS)
  timer.unref()
  socket.on('pong', () => {
    answered = true
  })
  socket.once('close', () => clearInterval(timer))
}

const reached = new WeakMap<WebSocket, string>()

/** The numeric address at the other end of a connection that we dialled. */
export const reachedAt = (socket: WebSocket): string => reached.get(socket) ?? ''

export async function dialWs(
  url: string,
  limits: typeof MESSAGES | typeof TUNNEL,
  signal: AbortSignal,
): Promise<WebSocket> {
  signal.throwIfAborted()
  const socket = new WebSocket(url, { ...limits, handshakeTimeout: HANDSHAKE_MS, finishRequest: shakeHands })
  boundFrames(socket, { maySpeak: () => true, cutOff: () => cutOff(socket) })
  const abort = (): void => socket.terminate()
  // From the first moment: a broken frame may come with the handshake, before whoever dialled can listen for it.
  socket.on('error', abort)
  socket.once('upgrade', (answer) => reached.set(socket, plainAddress(answer.socket.remoteAddress ?? '')))
  signal.addEventListener('abort', abort, { once: true })
  try {
    await once(socket, 'open')
    if (socket.readyState !== WebSocket.OPEN) throw new Error('it broke the protocol at once')
    return socket
  } catch (cause) {
    signal.throwIfAborted()
    throw noRoom(url, cause) ?? fault('NOT_REACHED', { url }, cause)
  } finally {
    signal.removeEventListener('abort', abort)
  }
}

/** A server that talks before it shakes hands, or instead, could do so without end: nothing of it is read. */
function shakeHands(request: ClientRequest, socket: WebSocket): void {
  request.once('socket', (wire) => {
    wires.set(socket, wire)
    watchPieces(wire)
    request.on('information', () => readNoMore(wire))
    request.on('response', () => readNoMore(wire))
  })
  request.end()
}

export async function listenWs(
  where: { readonly host: string; readonly port: number },
  onSocket: (socket: WebSocket, path: string, seat: Seat) => void,
  rules: Partial<DoorRules> = {},
  listen: typeof listenPlain = listenPlain,
) {
  const http = createServer((_, response) => response.writeHead(426, { connection: 'close' }).end())
  const seatOf = keepDoor(http, { places: MAX_STRANGERS, idleMs: IDLE_MS, mostBody: 0, ...rules })
  http.on('upgrade', (_, socket) => socket.off('data', refuseManyRequests))
  const server = new WebSocketServer({ server: http, ...TUNNEL })
  // It repeats what its HTTP server could not do, which whoever listens is told, and would end the process with it.
  server.on('error', () => {})
  server.on('connection', (socket, request) => {
    const seat = seatOf(request.socket)
    socket.on('error', () => socket.terminate())
    wires.set(socket, request.socket)
    const path = request.url ?? '/'
    boundFrames(socket, {
      maySpeak: path === TUNNEL_PATH ? afterFirst(seat.maySpeak) : seat.maySpeak,
      cutOff: () => cutOff(socket),
    })
    onSocket(socket, path, seat)
  })
  const { port, close } = await listen(http, where)
  return {
    port,
    close: async () => {
      for (const socket of server.clients) socket.terminate()
      http.closeAllConnections()
      await close()
    },
  }
}

/** Where tunnels dial in. Their first word is a token, which takes no signature: it is nobody's word (attack 453). */
export const TUNNEL_PATH = '/tunnel'

function afterFirst(maySpeak: () => boolean): () => boolean {
  let isFirst = true
  return () => {
    const isFree = isFirst
    isFirst = false
    return isFree || maySpeak()
  }
}

async function listenPlain(http: Server, where: Destination) {
  http.listen(where)
  await once(http, 'listening')
  const close = (): Promise<unknown> => new Promise((resolve) => http.close(resolve))
  return { port: (http.address() as AddressInfo).port, close }
}

/** Where what comes is stamped before anybody reads it. */
export async function listenBehindStamps(http: Server, where: Destination): ReturnType<typeof listenPlain> {
  const { port, close } = await listenStamped(where, (socket) => http.emit('connection', socket))
  return { port, close: async () => close() }
}

/** When what a WebSocket says now came. */
export const wsCameUs = (socket: WebSocket): (() => number) => cameUsOf(wires.get(socket)!)
