import { once } from 'node:events'
import { chmodSync, chownSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { createServer, type Server } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { toHex } from '../../core/bytes/hex.ts'
import { sha256 } from '../../core/bytes/sha256.ts'
import { fault as storeFault } from '../store/faults.ts'
import { isFolderLocked, lockFolder, stopHolder } from './lockFolder.ts'

const never = new AbortController().signal
let base = ''
const others: Server[] = []
beforeEach(() => {
  base = mkdtempSync(join(tmpdir(), 'touchstone-lock-'))
})
afterEach(async () => {
  for (const server of others.splice(0)) await new Promise((done) => server.close(done))
  rmSync(base, { recursive: true, force: true })
})

/** Says that it holds whatever it is asked for, and lets go at once. */
async function squat(path: string): Promise<void> {
  const server = createServer((socket) => socket.on('error', () => {}).on('data', () => socket.end())).listen(path)
  others.push(server)
  await once(server, 'listening')
}

const inUse = () => storeFault('STORE_IN_USE', { folder: 'it' })

describe.each([
  ['short', 'data'],
  ['long', join('deep'.repeat(20), 'data'.repeat(30))],
])('a folder with a %s path', (_, name) => {
  test('is held by one at a time, who is told where its end is asked for; nothing is left', async () => {
    const folder = join(base, name)
    expect(await stopHolder(folder, never)).toBe(false)
    const asked = new AbortController()
    const unlock = await lockFolder(folder, inUse, () => asked.abort())
    await expect(lockFolder(folder, inUse)).rejects.toMatchObject({ detail: { code: 'STORE_IN_USE' } })
    expect(await isFolderLocked(folder)).toBe(true)
    const stopped = stopHolder(folder, never)
    await once(asked.signal, 'abort')
    await unlock()
    expect(await stopped).toBe(true)
    expect(await isFolderLocked(folder)).toBe(false)
    expect(readdirSync(join(folder, '..'))).toEqual([])
  })
})

test('attack 318: a lock that anybody could make in the folder for temporary files is none', async () => {
  const folder = join(base, 'long'.repeat(20), 'data'.repeat(10))
  const squatted = join(tmpdir(), `touchstone-${toHex(sha256(new TextEncoder().encode(folder))).slice(0, 24)}.lock`)
  await squat(squatted)
  expect(await stopHolder(folder, never)).toBe(false)
  const unlock = await lockFolder(folder, inUse)
  expect(existsSync(squatted)).toBe(true)
  await unlock()
})

test.skipIf(process.getuid?.() !== 0)('attack 318: nor is one of another account beside the folder', async () => {
  const folder = join(base, 'shared', 'data')
  mkdirSync(join(base, 'shared'))
  chmodSync(join(base, 'shared'), 0o1777)
  await squat(`${folder}.lock`)
  chownSync(`${folder}.lock`, 65534, 65534)
  expect(await stopHolder(folder, never)).toBe(false)
  expect(await isFolderLocked(folder)).toBe(false)
  await expect(lockFolder(folder, inUse)).rejects.toMatchObject({ detail: { code: 'LOCK_FOREIGN' } })
})
