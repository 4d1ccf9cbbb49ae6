import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { storeSuite } from '../../../test/suites/storeSuite.ts'
import { embeddedFolder } from '../../../test/support/embeddedFolder.ts'
import { openEmbedded } from './openEmbedded.ts'

storeSuite('embedded', async () => {
  const folders: { end(): void }[] = []
  return {
    open: async () => {
      const made = await embeddedFolder()
      folders.push(made)
      return openEmbedded({ folder: made.folder })
    },
    end: async () => {
      for (const made of folders) made.end()
    },
  }
})

describe('openEmbedded', () => {
  test('a folder has one user at a time', async () => {
    const { folder, end } = await embeddedFolder()
    const store = await openEmbedded({ folder })
    await expect(openEmbedded({ folder })).rejects.toMatchObject({ detail: { code: 'STORE_IN_USE' } })
    await store.close()
    end()
  })

  test('a folder that is something else is refused with a next step', async () => {
    const parent = mkdtempSync(join(tmpdir(), 'touchstone-store-'))
    const path = join(parent, 'file')
    writeFileSync(path, 'not a folder')
    await expect(openEmbedded({ folder: path })).rejects.toMatchObject({ detail: { code: 'STORE_UNUSABLE' } })
    rmSync(parent, { recursive: true })
  })
})
