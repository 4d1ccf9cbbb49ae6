import { connect, createServer, type Server, type Socket } from 'node:net'
import { parentPort } from 'node:worker_threads'
import type { Broken, Destination, FromStamper, ToStamper } from './stampMessages.ts'
import { systemClock } from './systemClock.ts'
import { watchStalls } from './watchStalls.ts'

/** Of a connection this much waits for whoever reads it; then the other side does. */
const MOST_UNTAKEN = 1024 * 1024

interface Line {
  readonly socket: Socket
  untaken: number
}

const lines = new Map<number, Line>()
const doors = new Map<number, Server>()
const port = parentPort!
let guests = 0

const tell = (news: FromStamper, transfer: ArrayBuffer[] = []): void => port.postMessage(news, transfer)

const broken = ({ code = '', message }: NodeJS.ErrnoException): Broken => ({ code, message })

/** Bytes go to and fro as they are. Whatever they mean, and however long that takes to find out, is for another thread. */
function hold(id: number, socket: Socket): void {
  const line = { socket, untaken: 0 }
  let why: Broken | null = null
  lines.set(id, line)
  socket.on('data', (piece) => {
    const atUs = systemClock.monotonicUs()
    const bytes = new Uint8Array(piece)
    line.untaken += bytes.length
    if (line.untaken > MOST_UNTAKEN) socket.pause()
    tell({ id, bytes, atUs }, [bytes.buffer])
  })
  socket.once('end', () => tell({ id, ended: true }))
  socket.once('error', (error) => {
    why = broken(error)
  })
  socket.once('close', () => {
    lines.delete(id)
    tell({ id, closed: why })
  })
}

// Else a small packet waits until the one before is acknowledged, up to 40 ms at nearly every step of an upload.
const AT_ONCE = { noDelay: true }

function dial(id: number, to: Destination): void {
  const socket = connect({ ...to, ...AT_ONCE })
  socket.once('connect', () => tell({ id, open: true }))
  hold(id, socket)
}

function listen(door: number, where: Destination | null): void {
  if (where === null) {
    doors.get(door)?.close()
    doors.delete(door)
    return
  }
  const server = createServer(AT_ONCE, (socket) => {
    const id = --guests
    // First of all: whatever it says comes after.
    tell({ door, accepted: id, remoteAddress: socket.remoteAddress ?? '' })
    hold(id, socket)
  })
  doors.set(door, server)
  server.once('error', (error) => tell({ door, listening: broken(error) }))
  server.listen(where, () => tell({ door, listening: (server.address() as { port: number }).port }))
}

function obey(order: ToStamper): void {
  if ('listen' in order) listen(order.door, order.listen)
  else if ('dial' in order) dial(order.id, order.dial)
  else obeyOn(lines.get(order.id), order)
}

type OfLine = Exclude<ToStamper, { readonly listen: unknown } | { readonly dial: unknown }>

/** Nothing of a connection that is gone. */
function obeyOn(line: Line | undefined, order: OfLine): void {
  if (!line) return
  const { socket } = line
  if ('write' in order) socket.write(order.write, (error) => error || tell({ id: order.id, written: true }))
  else if ('taken' in order) {
    line.untaken -= order.taken
    if (line.untaken <= MOST_UNTAKEN) socket.resume()
  } else if (order.close === 'end') socket.end()
  else socket.destroy()
}

tell({ begun: true })
watchStalls(systemClock, (stall) => tell({ stall }))
port.on('message', obey)
