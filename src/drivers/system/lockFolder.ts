import { once } from 'node:events'
import { chmodSync, closeSync, existsSync, lstatSync, mkdirSync, openSync, rmSync, statSync } from 'node:fs'
import { connect, createServer, type Server, type Socket } from 'node:net'
import { dirname, resolve } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { toHex } from '../../core/bytes/hex.ts'
import { sha256 } from '../../core/bytes/sha256.ts'
import type { TouchstoneError } from '../../ports/errors.ts'
import { codeOf } from './codeOf.ts'
import { fault } from './faults.ts'

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
  mkdirSync(dirname(resolve(folder)), { recursive: true, mode: 0o700 })
  const { path, letGo } = socketOf(folder)
  const foreign = () => fault('LOCK_FOREIGN', { folder: resolve(folder) })
  try {
    const unlock = await listenAlone(path, { inUse, foreign, onStop })
    return () => unlock().finally(letGo)
  } catch (error) {
    letGo()
    throw error
  }
}

interface Alone {
  readonly inUse: () => TouchstoneError
  readonly foreign: () => TouchstoneError
  readonly onStop: () => void
}

async function listenAlone(path: string, { inUse, foreign, onStop }: Alone): Promise<() => Promise<void>> {
  const guests = new Set<Socket>()
  for (let tries = 0; tries < 5; tries++) {
    const server = await listen(path, (socket) => serve(socket, guests, onStop))
    if (server) {
      const { ino } = statSync(path)
      // Two that found the same dead socket may have replaced each other's: only the last one still stands here.
      await delay(20)
      if (statSync(path, { throwIfNoEntry: false })?.ino === ino) return () => unlock(server, path, guests)
      server.close()
    } else if (isForeign(path)) throw foreign()
    else if (await answers(path)) throw inUse()
    else rmSync(path, { force: true })
  }
  throw inUse()
}

/** Whether a process holds the lock of a folder. */
export async function isFolderLocked(folder: string): Promise<boolean> {
  const socket = await reachHolder(folder)
  socket?.destroy()
  return socket !== null
}

const STOP = 'stop\n'

/** Asks the holder of a folder to end, and waits until it has let go; false where nobody holds it. */
export async function stopHolder(folder: string, signal: AbortSignal): Promise<boolean> {
  const socket = await reachHolder(folder)
  if (socket === null) return false
  try {
    socket.on('error', () => {}).write(STOP)
    await once(socket, 'close', { signal })
    return true
  } finally {
    socket.destroy()
  }
}

async function reachHolder(folder: string): Promise<Socket | null> {
  if (!existsSync(dirname(resolve(folder)))) return null
  const { path, letGo } = socketOf(folder)
  return await reach(path).finally(letGo)
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

/**
 * The lock lies beside its folder, never where anybody may write: another account could hold it there, and be taken for us
 * (attack 318). Socket names are limited to about 100 bytes: a longer one is reached through the open folder.
 */
function socketOf(folder: string): { readonly path: string; letGo(): void } {
  const beside = `${resolve(folder)}.lock`
  if (Buffer.byteLength(beside) < 100) return { path: beside, letGo() {} }
  const name = `touchstone-${toHex(sha256(new TextEncoder().encode(resolve(folder)))).slice(0, 24)}.lock`
  const parent = openSync(dirname(beside), 'r')
  return { path: `/proc/self/fd/${parent}/${name}`, letGo: () => closeSync(parent) }
}

/** Whether neither we nor the owner of the folder it lies in made what is there: it holds nothing, whatever it says. */
function isForeign(path: string): boolean {
  const made = lstatSync(path, { throwIfNoEntry: false })
  return made !== undefined && made.uid !== process.getuid?.() && made.uid !== statSync(dirname(path)).uid
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

async function reach(path: string): Promise<Socket | null> {
  if (isForeign(path)) return null
  const socket = connect(path)
  try {
    await once(socket, 'connect')
    return socket
  } catch {
    return null
  }
}

async function answers(path: string): Promise<boolean> {
  const socket = await reach(path)
  socket?.destroy()
  return socket !== null
}

async function unlock(server: Server, path: string, guests: ReadonlySet<Socket>): Promise<void> {
  server.close()
  for (const guest of guests) guest.destroy()
  await once(server, 'close')
  rmSync(path, { force: true })
}
