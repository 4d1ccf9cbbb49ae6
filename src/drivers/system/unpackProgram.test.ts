import { createHash } from 'node:crypto'
import {
  chmodSync,
  chownSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { unpackProgram } from './unpackProgram.ts'

const contents = { 'bin/a.mjs': 'first', 'dist/deep/b.js': '', 'c.wasm': 'third' }
const list = JSON.stringify(
  Object.entries(contents).map(([path, text]) => {
    const sha256 = createHash('sha256').update(text).digest('hex')
    return { path, bytes: text.length, sha256 }
  }),
)
let unpacked = 0
const archive = (): ArrayBuffer => {
  unpacked++
  return new Uint8Array(gzipSync(Object.values(contents).join(''))).buffer
}

let cache = ''
beforeEach(() => {
  cache = mkdtempSync(join(tmpdir(), 'touchstone-unpack-'))
  unpacked = 0
})
afterEach(() => rmSync(cache, { recursive: true, force: true }))

const unpack = () => unpackProgram(cache, list, archive)
const isWhole = (folder: string) =>
  Object.entries(contents).every(([path, text]) => readFileSync(join(folder, path), 'utf8') === text)

test('unpacks once, into a folder that nobody else may enter, and leaves nothing beside it', () => {
  const folder = unpack()
  expect(unpack()).toBe(folder)
  expect(unpacked).toBe(1)
  expect(isWhole(folder)).toBe(true)
  expect(statSync(folder).mode & 0o777).toBe(0o700)
  expect(readdirSync(cache)).toHaveLength(1)
})

test.each([
  ['differs', (path: string) => writeFileSync(path, 'farst')],
  ['is missing', (path: string) => rmSync(path)],
])('a file that %s is noticed before anything is used, and the folder is made anew', (_, damage) => {
  damage(join(unpack(), 'bin/a.mjs'))
  expect(isWhole(unpack())).toBe(true)
  expect(unpacked).toBe(2)
  expect(readdirSync(cache)).toHaveLength(1)
})

test('of two that start together the first one keeps its folder: it may run from it already', () => {
  let [first, node] = ['', 0]
  const folder = unpackProgram(cache, list, () => {
    first = unpack()
    node = statSync(first).ino
    return archive()
  })
  expect([folder, statSync(folder).ino]).toEqual([first, node])
  expect(readdirSync(cache)).toHaveLength(1)
})

test('a folder that others could enter is closed to them, and the one it lies in to their writing', () => {
  chmodSync(unpack(), 0o777)
  chmodSync(cache, 0o777)
  expect(statSync(unpack()).mode & 0o777).toBe(0o700)
  expect(statSync(cache).mode & 0o777).toBe(0o755)
})

test.skipIf(process.getuid?.() !== 0)('a cache that belongs to somebody else is refused', () => {
  chownSync(cache, 1000, 1000)
  expect(unpack).toThrow('is not a folder of ours')
  expect(readdirSync(cache)).toEqual([])
})

test('what is no folder of ours in its place is refused', () => {
  const folder = unpack()
  rmSync(folder, { recursive: true })
  symlinkSync(cache, folder)
  expect(unpack).toThrow('is not a folder of ours')
})

test('attack 316: a cache in whose place others could put another is refused, sticky folders excepted', () => {
  const below = () => unpackProgram(join(cache, 'me'), list, archive)
  chmodSync(cache, 0o777)
  expect(below).toThrow('others may put something else in the place of')
  chmodSync(cache, 0o1777)
  expect(isWhole(below())).toBe(true)
})

test.skipIf(process.getuid?.() !== 0)('attack 316: so is one in a folder of somebody else, sticky or not', () => {
  mkdirSync(join(cache, 'theirs'))
  chownSync(join(cache, 'theirs'), 1000, 1000)
  for (const mode of [0o700, 0o1777]) {
    chmodSync(join(cache, 'theirs'), mode)
    expect(() => unpackProgram(join(cache, 'theirs/me'), list, archive)).toThrow('others may put something else')
  }
})

test('behind a link the program is known by its path without it, as the children that Node starts know it', () => {
  mkdirSync(join(cache, 'real'))
  symlinkSync(join(cache, 'real'), join(cache, 'link'))
  const folder = unpackProgram(join(cache, 'link/me'), list, archive)
  expect(folder).toBe(realpathSync(folder))
  expect(folder.startsWith(join(realpathSync(cache), 'real/me/'))).toBe(true)
})
