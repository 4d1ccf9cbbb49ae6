import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { readRegularFile } from './readRegularFile.ts'
import { ensureWritable, writeAside } from './writeAside.ts'

const folder = mkdtempSync(join(tmpdir(), 'touchstone-aside-'))
const pipe = join(folder, 'pipe')
spawnSync('mkfifo', [pipe])
afterAll(() => rmSync(folder, { recursive: true, force: true }))

test('attack 116: what is no regular file is not replaced', () => {
  const refused = expect.objectContaining({ detail: expect.objectContaining({ code: 'NOT_WRITABLE' }) })
  expect(() => ensureWritable(pipe)).toThrow(refused)
  expect(() => writeAside(pipe, 'text')).toThrow(refused)
  expect(statSync(pipe).isFIFO()).toBe(true)
})

test('attack 119: a pipe is refused at once, without waiting for whoever writes', () => {
  expect(() => readRegularFile(pipe, 100)).toThrow('not a regular file')
  expect(() => readRegularFile('/dev/zero', 100)).toThrow('not a regular file')
  expect(() => readRegularFile(folder, 100)).toThrow('not a regular file')
})
