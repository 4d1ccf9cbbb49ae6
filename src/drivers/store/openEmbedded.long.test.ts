import { existsSync, lstatSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { modesIn } from '../../../test/support/modesIn.ts'
import { openEmbedded } from './openEmbedded.ts'

// Making a store takes seconds; everybody else copies one.
test('attack 90: a new store is closed from its first moment', async () => {
  const parent = mkdtempSync(join(tmpdir(), 'touchstone-store-'))
  const folder = join(parent, 'deep', 'data')
  const seen = new Set<number>()
  const looking = setInterval(() => {
    for (const name of existsSync(join(parent, 'deep')) ? readdirSync(join(parent, 'deep')) : [])
      if (name.includes('.creating-')) seen.add(lstatSync(join(parent, 'deep', name)).mode & 0o777)
  }, 5)
  const store = await openEmbedded({ folder })
  clearInterval(looking)
  await store.close()
  expect(seen).toEqual(new Set([0o700]))
  expect(lstatSync(join(parent, 'deep')).mode & 0o777).toBe(0o700)
  expect(modesIn(folder)).toEqual(new Set(['folder 700', 'file 600']))
  rmSync(parent, { recursive: true })
})
