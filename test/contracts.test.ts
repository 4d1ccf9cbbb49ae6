import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'

const root = fileURLToPath(new URL('..', import.meta.url))

test('the committed contract has its checksum, and is what the pinned compiler makes of its source', () => {
  const text = readFileSync(`${root}contracts/built/TouchstoneRounds.json`)
  const [sum] = readFileSync(`${root}contracts/built/SHA256SUMS`, 'utf8').split(' ')
  expect(createHash('sha256').update(text).digest('hex')).toBe(sum)
  const { status, stdout } = spawnSync(process.execPath, ['contracts/build.mjs', '--check'], {
    cwd: root,
    encoding: 'utf8',
  })
  expect([status, stdout]).toEqual([0, 'TouchstoneRounds.json matches\n'])
})
