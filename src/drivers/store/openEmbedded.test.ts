import { chmodSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PGlite } from '@electric-sql/pglite'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { storeSuite } from '../../../test/suites/storeSuite.ts'
import { embeddedFolder } from '../../../test/support/embeddedFolder.ts'
import { modesIn } from '../../../test/support/modesIn.ts'
import { tightenFolder } from '../system/tightenFolder.ts'
import { MIGRATIONS } from './migrations.ts'
import { openEmbedded } from './openEmbedded.ts'
import { PGLITE_START } from './pgliteSettings.ts'

/** Does so much in place of what the folder held. */
async function fillFolder(folder: string, statements: readonly string[]): Promise<void> {
  const older = await PGlite.create(folder, { startParams: [...PGLITE_START] })
  await older.exec('drop schema public cascade; create schema public')
  for (const text of statements) await older.query(text)
  await older.close()
}

storeSuite('embedded', async () => {
  const folders: { end(): void }[] = []
  return {
    open: async (older) => {
      const made = await embeddedFolder()
      folders.push(made)
      if (older) await fillFolder(made.folder, older)
      return openEmbedded({ folder: made.folder })
    },
    end: async () => {
      for (const made of folders) made.end()
    },
  }
})

// One folder for all of these, opened as seldom as can be: an engine takes a second to start.
describe('openEmbedded', () => {
  let made: Awaited<ReturnType<typeof embeddedFolder>>
  let folder = ''
  beforeAll(async () => {
    made = await embeddedFolder()
    folder = made.folder
  })
  afterAll(() => made.end())

  test('attack 90: a store that holds what another account put there, or a link, is refused with a next step', async () => {
    symlinkSync('/etc/passwd', join(folder, 'base', 'planted'))
    const refused = { detail: { code: 'FOLDER_NOT_OURS', path: join(folder, 'base', 'planted') } }
    await expect(openEmbedded({ folder })).rejects.toMatchObject(refused)
    rmSync(join(folder, 'base', 'planted'))
    expect(() => tightenFolder(folder, process.getuid!() + 1)).toThrow(/belongs to another account/)
  })

  test('attack 90: a store is closed to other accounts, also one that was open to all, and has one user at a time', async () => {
    for (const name of ['', 'base', 'PG_VERSION']) chmodSync(join(folder, name), 0o777)
    const store = await openEmbedded({ folder })
    await store.putBox({ id: 'a', address: 'local', provider: 'p', claim: null, allocated: false })
    await expect(openEmbedded({ folder })).rejects.toMatchObject({ detail: { code: 'STORE_IN_USE' } })
    // Two caches of the engine have a mode of its own while it runs; nobody else gets as far as them.
    expect([...modesIn(folder)].filter((mode) => mode.startsWith('folder'))).toEqual(['folder 700'])
    await store.close()
    expect(modesIn(folder)).toEqual(new Set(['folder 700', 'file 600']))
  })

  test('attack 78: a store of the version before opens, and its scores are earned again', async () => {
    const older = await PGlite.create(folder, { startParams: [...PGLITE_START] })
    await older.exec('drop schema public cascade; create schema public')
    for (const text of MIGRATIONS.slice(0, 2).flat()) await older.query(text)
    await older.exec(`
      create table touchstone_schema (version int4 primary key, at timestamptz default now());
      insert into touchstone_schema (version) values (1), (2);
      insert into boxes (id, address, provider, status, score, terms, scored_at, verified_total)
        values ('earned', 'local', 'p', 'verified', 470008, '[{"name":"ram"}]', now(), 3),
          ('lost', 'local', 'p', 'failed', 0, '[]', now(), 3), ('unseen', 'local', 'p', 'new', 0, '[]', null, 0)`)
    await older.close()
    const store = await openEmbedded({ folder })
    const fresh = { score: 0, terms: [], scoredAt: null, moves: 0, current: true, missed: 0, stalls: 0 }
    expect(await store.box('earned')).toMatchObject({ ...fresh, status: 'new' })
    expect(await store.box('lost')).toMatchObject({ ...fresh, status: 'failed' })
    expect(await store.box('unseen')).toMatchObject({ ...fresh, status: 'new' })
    await store.close()
  })

  test('a folder that is something else is refused with a next step', async () => {
    const parent = mkdtempSync(join(tmpdir(), 'touchstone-store-'))
    const path = join(parent, 'file')
    writeFileSync(path, 'not a folder')
    await expect(openEmbedded({ folder: path })).rejects.toMatchObject({ detail: { code: 'STORE_UNUSABLE' } })
    rmSync(parent, { recursive: true })
  })
})
