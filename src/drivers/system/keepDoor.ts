import type { IncomingMessage, Server } from 'node:http'
import { isIP, type Socket } from 'node:net'
import { networkOf } from '../../core/bytes/networkOf.ts'
import { buckets } from '../../core/units/buckets.ts'
import type { Seat } from '../../ports/leases.ts'
import { readNoMore, watchPieces } from './readNoMore.ts'

export interface DoorRules {
  /** For strangers. Known keys have places besides, so that strangers can never take them. */
  readonly places: number
  /** Silence after the first word; null where somebody else looks after it. */
  readonly idleMs: number | null
  /** Bytes of a request's body, more than any route takes. */
  readonly mostBody: number
  readonly firstWordMs?: number
  readonly stalledMs?: number
  /** What strangers of one network may say. */
  readonly words?: Parameters<typeof buckets>[0]
  /** New connections of one network. */
  readonly entries?: Parameters<typeof buckets>[0]
  /** Callers from this machine come through a proxy that writes X-Forwarded-For itself, and bounds who dials (attack 453). */
  readonly behindProxy?: boolean
}

/** From the first byte of a connection to a message or a request that is whole. */
const FIRST_WORD_MS = 10_000
/** Of all places, what one address, or one IPv6 /64, may hold. */
const ONE_NETWORK_SHARE = 1 / 4
/** To read a word takes a signature check of milliseconds, in the one thread there is; and a word can be said again (attack 201). */
const WORDS = { atOnce: 128, perSecond: 4 }
/** A connection that is taken costs 0.3 ms, one that is turned away a sixth of it: more than one network is answered otherwise. */
export const ENTRIES = { atOnce: 256, perSecond: 32 }
/** What is said through a proxy, by all of its callers. */
const PASSED = { atOnce: 2048, perSecond: 128 }
/** Connections of one known key: the newest count. */
const PER_KEY = 4
/** A reader that takes nothing for so long is let go, and so is a request that takes as long to arrive. */
const STALLED_MS = 30_000
const NEXT_REQUEST_MS = 5_000

interface Guest {
  readonly network: string
  readonly isProxied: boolean
  /** Whose words they are. */
  speaker: string
  readonly socket: Socket
  spoke: boolean
  key: string | null
}

/**
 * Keeps the door of a server: everybody has a place from the first moment, and must say something to the purpose soon.
 * Where places run out, the network that holds most of them gives one up, the silent first; so whoever wants to lock others
 * out needs as many networks as there are places. One door for whatever listens: provider, hub and API.
 */
export function keepDoor(server: Server, rules: DoorRules): (socket: Socket) => Seat {
  const door = new Door(rules)
  const seats = new WeakMap<Socket, Seat>()
  server.timeout = rules.stalledMs ?? STALLED_MS
  // Whoever waits for us may wait; whoever does not take what we have sent may not.
  server.on('timeout', (socket: Socket) => {
    if (socket.writableLength > 0) socket.destroy()
  })
  server.requestTimeout = STALLED_MS
  server.keepAliveTimeout = NEXT_REQUEST_MS
  server.on('connection', (socket: Socket) => {
    const seat = door.enter(socket)
    if (seat === null) return socket.destroy()
    seats.set(socket, seat)
    watchPieces(socket)
    socket.prependListener('data', refuseManyRequests)
  })
  server.prependListener('request', (request: IncomingMessage) => refuseBody(request, rules.mostBody))
  server.prependListener('upgrade', ({ socket, headers }: IncomingMessage) =>
    door.nameCaller(socket, headers['x-forwarded-for']),
  )
  // Node answers these by itself, and reads their bodies to the end.
  server.on('checkExpectation', ({ socket }: IncomingMessage) => readNoMore(socket))
  return (socket) => seats.get(socket) ?? NO_SEAT
}

/** What every request has, and once; Node takes `ICE/1.0` and `RTSP/1.0` for HTTP too. */
const REQUEST_LINE_END = /[A-Z]\/\d\.\d[\r\n]/g

/**
 * Node reads all requests of a piece of 64 KiB in one go, 2,000 of them, and of every connection that has one: seconds, in
 * which nobody else is heard (attack 273). Nobody who means well sends a second one before the first is answered.
 */
export function refuseManyRequests(piece: Buffer): void {
  // Nothing else keeps Node from reading on: this is no request any more.
  if ((piece.toString('latin1').match(REQUEST_LINE_END)?.length ?? 0) > 1) piece.fill(0)
}

const CHUNKED = {
  code: 'LENGTH_REQUIRED',
  message: 'a body must say how long it is',
  nextStep: 'Send it with content-length, and without transfer-encoding.',
}
const tooLarge = (most: number) => ({
  code: 'TOO_LARGE',
  message: `a body has at most ${most} bytes`,
  nextStep: 'Send less.',
})

/**
 * Attack 438. Node calls back for every chunk of a body, six bytes each, and goes on when the request was answered long ago;
 * a body that is long is read to its end likewise. None of our clients sends chunks.
 */
function refuseBody({ headers, socket }: IncomingMessage, most: number): void {
  if (headers['transfer-encoding'] !== undefined) refuse(socket, '411 Length Required', CHUNKED)
  else if (Number(headers['content-length'] ?? 0) > most) refuse(socket, '413 Payload Too Large', tooLarge(most))
}

/** Says so, and reads no more of it. */
function refuse(socket: Socket, status: string, error: object): void {
  const body = JSON.stringify({ error })
  const head = [`HTTP/1.1 ${status}`, 'content-type: application/json', `content-length: ${body.length}`]
  socket.end(`${head.join('\r\n')}\r\nconnection: close\r\n\r\n${body}`)
  readNoMore(socket)
}

/** Of somebody who was turned away. */
const NO_SEAT: Seat = { maySpeak: () => false, heard: () => {}, known: () => {} }

const nowUs = (): number => 1000 * performance.now()

const isHere = (address: string): boolean => /^(?:(?:::ffff:)?127\.0\.0\.1|::1)$/.test(address)

class Door {
  readonly #rules: DoorRules
  readonly #guests = new WeakMap<Socket, Guest>()
  readonly #strangers = new Set<Guest>()
  readonly #held = new Map<string, number>()
  readonly #known = new Map<string, Guest[]>()
  readonly #takeWord: ReturnType<typeof buckets>
  readonly #takeEntry: ReturnType<typeof buckets>
  readonly #takePassed = buckets(PASSED)

  constructor(rules: DoorRules) {
    this.#rules = rules
    this.#takeWord = buckets(rules.words ?? WORDS)
    this.#takeEntry = buckets(rules.entries ?? ENTRIES)
  }

  enter(socket: Socket): Seat | null {
    const address = socket.remoteAddress ?? ''
    const network = networkOf(address)
    const { places, idleMs, firstWordMs = FIRST_WORD_MS, behindProxy = false } = this.#rules
    const isProxied = behindProxy && isHere(address)
    if (!isProxied && this.#takeEntry(network, nowUs()) > 0) return null
    // Whoever asked for a page is served to the end; a stranger who spoke and was let stay is worth no more than the next one.
    const keepsSpeakers = idleMs === null
    const share = isProxied ? 1 : ONE_NETWORK_SHARE
    if (this.#holds(network) >= places * share && !this.#pushOut(network, keepsSpeakers)) return null
    if (this.#strangers.size >= places) {
      const biggest = this.#biggest()
      if (!this.#pushOut(biggest, keepsSpeakers && this.#holds(biggest) <= this.#holds(network))) return null
    }
    const guest: Guest = { network, isProxied, speaker: network, socket, spoke: false, key: null }
    this.#guests.set(socket, guest)
    this.#add(guest)
    let timer = setTimeout(() => socket.destroy(), firstWordMs).unref()
    const restart = (ms: number | null): void => {
      clearTimeout(timer)
      if (ms !== null) timer = setTimeout(() => socket.destroy(), ms).unref()
    }
    socket.once('close', () => {
      clearTimeout(timer)
      this.#remove(guest)
    })
    return {
      maySpeak: () => guest.key !== null || (this.#takeWord(guest.speaker, nowUs()) === 0 && this.#mayPass(guest)),
      heard: () => {
        guest.spoke = true
        if (guest.key === null) restart(idleMs)
      },
      known: (key) => {
        guest.spoke = true
        restart(null)
        this.#welcome(guest, key)
      },
    }
  }

  /** All who come through a proxy together. */
  #mayPass({ isProxied }: Guest): boolean {
    return !isProxied || this.#takePassed('', nowUs()) === 0
  }

  /** The last one that is named was written by the proxy itself; whatever stands before, by whoever dialled. */
  nameCaller(socket: Socket, forwarded: string | readonly string[] | undefined): void {
    const guest = this.#guests.get(socket)
    const named = `${forwarded ?? ''}`.split(',').at(-1)!.trim()
    const address = isIP(named) > 0 ? named : named.replace(/^\[?(.*?)\]?:[0-9]+$/, '$1')
    if (guest?.isProxied && isIP(address) > 0) guest.speaker = networkOf(address)
  }

  #holds(network: string): number {
    return this.#held.get(network) ?? 0
  }

  #biggest(): string {
    let [name, most] = ['', 0]
    for (const [network, held] of this.#held) if (held > most) [name, most] = [network, held]
    return name
  }

  /** The longest silent of a network or, unless only those may go, its oldest. */
  #pushOut(network: string, silentOnly: boolean): boolean {
    const guests = [...this.#strangers].filter((guest) => guest.network === network)
    const leaving = guests.find(({ spoke }) => !spoke) ?? (silentOnly ? undefined : guests[0])
    if (leaving === undefined) return false
    this.#remove(leaving)
    leaving.socket.destroy()
    return true
  }

  #add(guest: Guest): void {
    this.#strangers.add(guest)
    this.#held.set(guest.network, this.#holds(guest.network) + 1)
  }

  /** Gives back whichever place it has; safe to call twice. */
  #remove(guest: Guest): void {
    if (this.#strangers.delete(guest)) {
      const left = this.#holds(guest.network) - 1
      if (left > 0) this.#held.set(guest.network, left)
      else this.#held.delete(guest.network)
    }
    if (guest.key === null) return
    const others = (this.#known.get(guest.key) ?? []).filter((other) => other !== guest)
    if (others.length > 0) this.#known.set(guest.key, others)
    else this.#known.delete(guest.key)
  }

  #welcome(guest: Guest, key: string): void {
    if (guest.key === key || guest.socket.destroyed) return
    this.#remove(guest)
    guest.key = key
    const own = [...(this.#known.get(key) ?? []), guest]
    this.#known.set(key, own)
    if (own.length > PER_KEY) own[0]!.socket.destroy()
  }
}
