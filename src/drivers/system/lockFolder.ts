import { once } from 'node:events'
import { mkdirSync, rmSync, statSync } from 'node:fs'
import { connect, createServer, type Server } from 'node:net'
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
 */
export async function lockFolder(folder: string, inUse: () => TouchstoneError): Promise<() => Promise<void>> {
  const path = socketPath(resolve(folder))
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
  for (let tries = 0; tries < 5; tries++) {
    const server = await listen(path)
    if (server) {
      const { ino } = statSync(path)
      // Two that found the same dead socket may have replaced each other's: only the last one still stands here.
      await delay(20)
      if (statSync(path, { throwIfNoEntry: false })?.ino === ino) return () => unlock(server, path)
      server.close()
    } else if (await answers(path)) throw inUse()
    else rmSync(path, { force: true })
  }
  throw inUse()
}

/** Whether a process holds the lock of a folder. */
export const isFolderLocked = (folder: string): Promise<boolean> => answers(socketPath(resolve(folder)))

/** Socket names are limited to about 100 bytes. */
function socketPath(folder: string): string {
  const beside = `${folder}.lock`
  return Buffer.byteLength(beside) < 100
    ? beside
    : join(tmpdir(), `touchstone-${toHex(sha256(new TextEncoder().encode(folder))).slice(0, 24)}.lock`)
}

async function listen(path: string): Promise<Server | null> {
  const server = createServer((socket) => socket.destroy())
  server.unref()
  server.listen(path)
  try {
    await once(server, 'listening')
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

async function unlock(server: Server, path: string): Promise<void> {
  server.close()
  await once(server, 'close')
  rmSync(path, { force: true })
}
