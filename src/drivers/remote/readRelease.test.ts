import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { makeRelease } from '../../../test/support/makeRelease.ts'
import { readRelease } from './readRelease.ts'

const root = mkdtempSync(join(tmpdir(), 'touchstone-release-'))
afterAll(() => rmSync(root, { recursive: true, force: true }))
const file = { path: 'a/b.js', bytes: 1, sha256: '0'.repeat(64), executable: false }
const good = { format: 1, command: ['node', 'a/b.js'], files: [file] }

describe('readRelease', () => {
  test('default: files, command and an id that changes with the manifest', async () => {
    const one = await readRelease(makeRelease(join(root, 'one'), { files: { p: 'x' }, command: ['sh', 'p'] }))
    const two = await readRelease(makeRelease(join(root, 'two'), { files: { p: 'y' }, command: ['sh', 'p'] }))
    expect(one).toMatchObject({ command: ['sh', 'p'], files: [{ path: 'p', bytes: 1, executable: false }] })
    expect(one.id).toMatch(/^[0-9a-f]{64}$/)
    expect(one.id).not.toBe(two.id)
  })

  test.each([
    ['no JSON', '{'],
    ['another format', { ...good, format: 2 }],
    ['no command', { ...good, command: [] }],
    ['no files', { ...good, files: [] }],
    ['a path that climbs out', { ...good, files: [{ ...file, path: '../x' }] }],
    ['an absolute path', { ...good, files: [{ ...file, path: '/etc/passwd' }] }],
    ['a path with a space', { ...good, files: [{ ...file, path: 'a b' }] }],
    ['its own manifest', { ...good, files: [{ ...file, path: 'manifest.json' }] }],
    ['a file twice', { ...good, files: [file, file] }],
    ['a negative length', { ...good, files: [{ ...file, bytes: -1 }] }],
    ['a short hash', { ...good, files: [{ ...file, sha256: 'ab' }] }],
    ['null', null],
  ])('behavior: %s is refused', async (name, manifest) => {
    const folder = join(root, name)
    mkdirSync(folder)
    const text = typeof manifest === 'string' ? manifest : JSON.stringify(manifest)
    writeFileSync(join(folder, 'manifest.json'), text)
    await expect(readRelease(folder)).rejects.toMatchObject({ detail: { code: 'BAD_RELEASE' } })
  })

  test('behavior: a folder without a manifest is refused', async () => {
    await expect(readRelease(join(root, 'nowhere'))).rejects.toMatchObject({ detail: { code: 'BAD_RELEASE' } })
  })
})
