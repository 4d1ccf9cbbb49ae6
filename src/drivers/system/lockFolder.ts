import { once } from 'node:events'
import { chmodSync, mkdirSync, rmSync, statSync } from 'node:fs'
import { connect, createServer, type Server, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { toHex } from '../../core/bytes/hex.ts'
import { sha256 } from '../../core/bytes/sha256.ts'
import type { TouchstoneError } from '../../ports/errors.ts'
import { codeOf } from './codeOf.ts'

/**
 * One process per folder. The lock is a socket that somebody listens on: the kernel closes it with its process, so a
 * killed one leaves no lock behind, and no process id can be mistaken for another. `inUse` is what the second one throws.
 * `onStop` is called where somebody who may write there asks this one to end (`stopHolder`).
 */
export async function lockFolder(
  folder: string,
  inUse: () => TouchstoneError,
  onStop: () => void = () => {},
): Promise<() => Promise<void>> {
  const path = socketPath(resolve(folder))
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
  const guests = new Set<Socket>()
  for (let tries = 0; tries < 5; tries++) {
    const server = await listen(path, (socket) => serve(socket, guests, onStop))
    if (server) {
      const { ino } = statSync(path)
      // Two that found the same dead socket may have replaced each other's: only the last one still stands here.
      await delay(20)
      if (statSync(path, { throwIfNoEntry: false })?.ino === ino) return () => unlock(server, path, guests)
      server.close()
    } else if (await answers(path)) throw inUse()
    else rmSync(path, { force: true })
  }
  throw inUse()
}

/** Whether a process holds the lock of a folder. */
export const isFolderLocked = (folder: string): Promise<boolean> => answers(socketPath(resolve(folder)))

const STOP = 'stop\n'

/** Asks the holder of a folder to end, and waits until it has let go; false where nobody holds it. */
export async function stopHolder(folder: string, signal: AbortSignal): Promise<boolean> {
  const socket = connect(socketPath(resolve(folder)))
  const isOver = once(socket, 'close', { signal })
  isOver.catch(() => {})
  try {
    await once(socket, 'connect')
  } catch {
    return false
  }
  try {
    socket.on('error', () => {}).write(STOP)
    await isOver
    return true
  } finally {
    socket.destroy()
  }
}

/** Who only wants to know whether somebody is here hangs up; who asks for the end is let go with the lock. */
function serve(socket: Socket, guests: Set<Socket>, onStop: () => void): void {
  guests.add(socket)
  let heard = ''
  socket.unref()
  socket.on('error', () => {})
  socket.on('close', () => guests.delete(socket))
  socket.on('data', (chunk: Buffer) => {
    heard = (heard + chunk.toString('latin1')).slice(0, STOP.length)
    if (heard === STOP) onStop()
  })
}

/** Socket names are limited to about 100 bytes. */
function socketPath(folder: string): string {
  const beside = `${folder}.lock`
  return Buffer.byteLength(beside) < 100
    ? beside
    : join(tmpdir(), `touchstone-${toHex(sha256(new TextEncoder().encode(folder))).slice(0, 24)}.lock`)
}

async function listen(path: string, onGuest: (socket: Socket) => void): Promise<Server | null> {
  const server = createServer(onGuest)
  server.unref()
  server.listen(path)
  try {
    await once(server, 'listening')
    // Whoever may write there ends us: no one else, whatever the file mask says.
    chmodSync(path, 0o600)
    return server
  } catch (error) {
    if (codeOf(error) === 'EADDRINUSE') return null
    throw error
  }
}

async function answers(path: string): Promise<boolean> {
  const socket = connect(path)
  try {
    await once(socket, 'connect')
    return true
  } catch {
    return false
  } finally {
    socket.destroy()
  }
}

async function unlock(server: Server, path: string, guests: ReadonlySet<Socket>): Promise<void> {
  server.close()
  for (const guest of guests) guest.destroy()
  await once(server, 'close')
  rmSync(path, { force: true })
}
