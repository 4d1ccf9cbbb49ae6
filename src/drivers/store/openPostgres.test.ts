import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { storeSuite } from '../../../test/suites/storeSuite.ts'
import { startPostgres, type TestPostgres } from '../../../test/support/postgresServer.ts'
import { entry } from '../../../test/support/storeFixtures.ts'
import { openPostgres } from './openPostgres.ts'

let server: TestPostgres
beforeAll(async () => {
  server = await startPostgres()
})
afterAll(() => server?.end())

let databases = 0
const openFresh = async () => {
  const name = `t${databases++}`
  await server.createDatabase(name)
  return openPostgres({ url: server.url(name) })
}

storeSuite('PostgreSQL', async () => ({ open: openFresh, end: async () => {} }))

describe('openPostgres', () => {
  test('validators that start together migrate once', async () => {
    await server.createDatabase('together')
    const stores = await Promise.all(Array.from({ length: 4 }, () => openPostgres({ url: server.url('together') })))
    await stores[0]!.putBox(entry('one'))
    expect(await stores[3]!.box('one')).not.toBeNull()
    await Promise.all(stores.map((store) => store.close()))
  })

  test('a wrong password or database is one sentence without the URL', async () => {
    await expect(openPostgres({ url: server.url('nowhere') })).rejects.toMatchObject({
      detail: { code: 'STORE_UNREACHABLE', why: '3D000' },
      message: expect.not.stringContaining('touchstone:touchstone'),
    })
  })

  test('a server that went away and came back is used again', async () => {
    const store = await openFresh()
    await store.putBox(entry('kept'))
    await server.stop()
    await expect(store.ping()).rejects.toThrow()
    await server.start()
    await expect
      .poll(
        () =>
          store.ping().then(
            () => true,
            () => false,
          ),
        { timeout: 15_000 },
      )
      .toBe(true)
    expect(await store.box('kept')).not.toBeNull()
    await store.close()
  })
})
