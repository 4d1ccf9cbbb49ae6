import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'

test('the committed contract is what the pinned compiler makes of its source', () => {
  const cwd = fileURLToPath(new URL('..', import.meta.url))
  const { status, stdout } = spawnSync(process.execPath, ['contracts/build.mjs', '--check'], { cwd, encoding: 'utf8' })
  expect([status, stdout]).toEqual([0, 'TouchstoneRounds.json matches\n'])
})
