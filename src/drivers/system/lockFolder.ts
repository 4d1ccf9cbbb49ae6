import { mkdirSync, rmSync, statSync } from 'node:fs'
import { connect, createServer, type Server } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { toHex } from '../../core/bytes/hex.ts'
import { sha256 } from '../../core/bytes/sha256.ts'
import type { TouchstoneError } from '../../ports/errors.ts'

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
      if (stillOurs(path, ino)) return () => unlock(server, path)
      server.close()
    } else if (await answers(path)) throw inUse()
    else rmSync(path, { force: true })
  }
  throw inUse()
}

/** Socket names are limited to about 100 bytes. */
function socketPath(folder: string): string {
  const beside = `${folder}.lock`
  return Buffer.byteLength(beside) < 100
    ? beside
    : join(tmpdir(), `touchstone-${toHex(sha256(new TextEncoder().encode(folder))).slice(0, 24)}.lock`)
}

function listen(path: string): Promise<Server | null> {
  return new Promise((settle, fail) => {
    const server = createServer((socket) => socket.destroy())
    server.unref()
    server.once('error', (error: NodeJS.ErrnoException) => (error.code === 'EADDRINUSE' ? settle(null) : fail(error)))
    server.listen(path, () => settle(server))
  })
}

function answers(path: string): Promise<boolean> {
  return new Promise((settle) => {
    const socket = connect(path)
    socket.once('connect', () => {
      socket.destroy()
      settle(true)
    })
    socket.once('error', () => settle(false))
  })
}

function stillOurs(path: string, ino: number): boolean {
  try {
    return statSync(path).ino === ino
  } catch {
    return false
  }
}

/** Closing the server removes its socket. */
const unlock = (server: Server, path: string) =>
  new Promise<void>((done) => {
    server.close(() => {
      rmSync(path, { force: true })
      done()
    })
  })
