import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { makeRelease } from '../../../test/support/makeRelease.ts'
import { releaseFlavours } from './readRelease.ts'

const root = mkdtempSync(join(tmpdir(), 'touchstone-flavours-'))
afterAll(() => rmSync(root, { recursive: true, force: true }))

function make(folder: string, name: string, files: Record<string, string>, facts: Record<string, unknown>): string {
  const directory = makeRelease(join(root, folder, name), { files, command: ['node', 'prover.js'] })
  const manifest = JSON.parse(readFileSync(join(directory, 'manifest.json'), 'utf8'))
  writeFileSync(join(directory, 'manifest.json'), JSON.stringify({ ...manifest, ...facts }))
  return join(root, folder)
}

const light = { machine: 'x86_64', carriesNode: false }
const node = { machine: 'x86_64', carriesNode: true }

describe('releaseFlavours', () => {
  test('default: one of each kind, the first folder first', async () => {
    const built = make('built', 'prover-light', { 'prover.js': 'new' }, light)
    make('packed', 'prover-light', { 'prover.js': 'new' }, light)
    const packed = make('packed', 'prover-node', { 'prover.js': 'new', 'bin/node': 'elf' }, node)
    expect(await releaseFlavours([built, packed])).toMatchObject([
      { directory: join(built, 'prover-light'), ...light },
      { directory: join(packed, 'prover-node'), ...node },
    ])
  })

  test('behavior: a release packed from other code is left out', async () => {
    const built = make('now', 'prover-light', { 'prover.js': 'new' }, light)
    const packed = make('then', 'prover-node', { 'prover.js': 'old', 'bin/node': 'elf' }, node)
    expect(await releaseFlavours([built, packed])).toMatchObject([{ directory: join(built, 'prover-light'), ...light }])
  })

  test('behavior: none at all is an empty list', async () => {
    expect(await releaseFlavours([join(root, 'nowhere')])).toEqual([])
  })

  test('behavior: a broken release is a fault', async () => {
    const broken = make('broken', 'prover-light', { 'prover.js': 'x' }, { format: 9 })
    await expect(releaseFlavours([broken])).rejects.toMatchObject({ detail: { code: 'BAD_RELEASE' } })
  })
})
