import postgres from 'postgres'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { storeSuite } from '../../../test/suites/storeSuite.ts'
import { startPostgres, type TestPostgres } from '../../../test/support/postgresServer.ts'
import { entry, finishOf, job } from '../../../test/support/storeFixtures.ts'
import { MIGRATIONS } from './migrations.ts'
import { openPostgres } from './openPostgres.ts'

let server: TestPostgres
beforeAll(async () => {
  server = await startPostgres()
})
afterAll(() => server?.end())

let databases = 0
const openFresh = async (older: readonly string[] = []) => {
  const name = `t${databases++}`
  await server.createDatabase(name)
  const before = postgres(server.url(name), { onnotice: () => {} })
  for (const statement of older) await before.unsafe(statement)
  await before.end()
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

  test('attack 153: boxes come in the order of their letters, whatever language the database is in', async () => {
    const admin = postgres(server.url('postgres'), { onnotice: () => {} })
    await admin.unsafe(
      "create database english template template0 encoding 'UTF8' locale_provider icu icu_locale 'en-US' locale 'C'",
    )
    await admin.end()
    const store = await openPostgres({ url: server.url('english') })
    const ids = ['A1', 'B-1', 'B1', 'a1', 'b-1', 'b1', 'box.9', 'box_9']
    for (const id of ids) await store.putBox(entry(id))
    const pages = [
      await store.boxes({}, { after: null, limit: 100 }),
      await store.boxes({}, { after: 'B1', limit: 100 }),
    ]
    expect(pages.map(({ items }) => items.map(({ id }) => id))).toEqual([ids, ids.slice(3)])
    const specs = await store.specs('alice', { after: 'B1', limit: 100 })
    expect(specs.items.map(({ boxId }) => boxId)).toEqual(ids.slice(3))
    await store.close()
  })

  test('a store from before a claim’s verdict had a column says what its runs said, and its scores are earned again', async () => {
    await server.createDatabase('older')
    const older = postgres(server.url('older'), { onnotice: () => {} })
    for (const statement of MIGRATIONS[0]!) await older.unsafe(statement)
    await older.unsafe('create table touchstone_schema (version int4 primary key, at timestamptz default now())')
    await older.unsafe('insert into touchstone_schema (version) values (1)')
    const judged = [
      ['met', 'L4', 'L4', 'matches'],
      ['unmet', 'L4', 'L4', 'weaker'],
      ['changed', 'H100 SXM', 'L4', 'matches'],
      ['unsaid', null, null, null],
    ] as const
    for (const [i, [id, claim, text, verdict]] of judged.entries()) {
      const judgement = JSON.stringify({ claim: text === null ? null : { text, verdict } })
      await older`insert into results (id, job_id, attempt, round, box_id, provider, kind, reason, outcome, started_at, seconds,
        score, judgement) values (${i}, ${i}, 1, 1, ${id}, 'p', 'full', 'round', 'accepted', now(), 1, 5, ${judgement}::text::jsonb)`
      await older`insert into boxes (id, address, provider, claim, status, score, last_result, last_accepted, scored_at)
        values (${id}, 'local', 'p', ${claim}, 'verified', 5, ${i}, ${i}, now())`
    }
    await older.end()
    const store = await openPostgres({ url: server.url('older') })
    const states = await Promise.all(judged.map(([id]) => store.box(id)))
    const results = await Promise.all(judged.map(async (_, i) => (await store.result(i))?.claimVerdict))
    expect(results).toEqual(['matches', 'weaker', 'matches', null])
    expect(states.map((box) => [box?.status, box?.claimVerdict, box?.score])).toEqual(
      judged.map(() => ['new', null, 0]),
    )
    await store.close()
  })

  test('what was earned by older rules in a window that is not over ends with them, and holds no round up', async () => {
    await server.createDatabase('pending')
    const older = postgres(server.url('pending'), { onnotice: () => {} })
    for (const statement of MIGRATIONS.slice(0, 10).flat()) await older.unsafe(statement)
    await older.unsafe('create table touchstone_schema (version int4 primary key, at timestamptz default now())')
    await older.unsafe('insert into touchstone_schema (version) select generate_series(1, 10)')
    await older.unsafe('insert into rounds (number, window_no) values (1, 1)')
    await older.unsafe(`insert into boxes (id, address, provider, pending)
      values ('a', 'local', 'p', '{"window": 1, "round": 1, "score": 5, "terms": []}')`)
    await older.end()
    const store = await openPostgres({ url: server.url('pending') })
    expect(await store.lastRound()).toMatchObject({ settled: true })
    expect(await store.settle(1, 1)).toBe(0)
    expect(await store.box('a')).toMatchObject({ score: 0 })
    await store.close()
  })

  test('a wrong password or database is one sentence without the URL', async () => {
    await expect(openPostgres({ url: server.url('nowhere') })).rejects.toMatchObject({
      detail: { code: 'STORE_UNREACHABLE', why: '3D000' },
      message: expect.not.stringContaining('touchstone:touchstone'),
    })
  })

  test('a server that leaves statements unanswered is told in the log once, and so is its return', async () => {
    await server.createDatabase('frozen')
    const lines: string[] = []
    const say = (message: string) => void lines.push(message)
    const log = { debug: say, info: say, warn: say, error: say }
    const store = await openPostgres({ url: server.url('frozen'), log, silenceMs: 50 })
    const holder = postgres(server.url('frozen'), { max: 1 })
    let asked: Promise<unknown> = Promise.resolve()
    await holder.begin(async (inside) => {
      await inside`lock table boxes in access exclusive mode`
      asked = Promise.all([store.box('one'), store.box('two')])
      await expect.poll(() => lines).toEqual(['the store has left a statement unanswered'])
    })
    await asked
    expect(lines).toEqual(['the store has left a statement unanswered', 'the store answers again'])
    await holder.end()
    await store.close()
  })

  test('a statement that met a deadlock is said again', async () => {
    await server.createDatabase('deadlock')
    const url = server.url('deadlock')
    const store = await openPostgres({ url })
    await store.putBox(entry('a'))
    await store.addJob(job('a', { round: 1 }))
    const [taken] = await store.takeJobs({ owner: 'v', holdMs: 60_000, limit: 1 })
    const [holder, watcher] = [postgres(url, { max: 1 }), postgres(url, { max: 1 })]
    const waits = async () =>
      (await watcher`select 1 from pg_stat_activity where wait_event_type = 'Lock' and datname = 'deadlock'`).length
    let finished: Promise<unknown> = Promise.resolve()
    await holder.begin(async (inside) => {
      // The other one looks for deadlocks first, and is the one that is undone.
      await inside`set local deadlock_timeout = '20s'`
      await inside`select 1 from boxes for update`
      finished = store.finishJob(finishOf(taken!, 'v'))
      await expect.poll(waits).toBe(1)
      await inside`select 1 from jobs for update`
    })
    expect(await finished).toMatchObject({ isOfBox: true })
    for (const client of [holder, watcher]) await client.end()
    await store.close()
  })

  test('attack 324: a score that a window gives while the result of a proof apart is stored falls to what that showed', async () => {
    await server.createDatabase('settled')
    const url = server.url('settled')
    const store = await openPostgres({ url })
    await store.putBox(entry('a'))
    await store.addJob(job('a', { round: 1, reason: 'asked', cohort: -1 }))
    const [taken] = await store.takeJobs({ owner: 'v', holdMs: 60_000, limit: 1 })
    const [holder, watcher] = [postgres(url, { max: 1 }), postgres(url, { max: 1 })]
    const waits = async () =>
      (await watcher`select 1 from pg_stat_activity where wait_event_type = 'Lock' and datname = 'settled'`).length
    const { box } = finishOf(taken!, 'v')
    let finished: Promise<unknown> = Promise.resolve()
    await holder.begin(async (inside) => {
      await inside`update boxes set score = 1000, since = 1`
      finished = store.finishJob(finishOf(taken!, 'v', { box: { ...box, score: 0, scored: false, atMost: 10 } }))
      await expect.poll(waits).toBe(1)
    })
    await finished
    expect(await store.box('a')).toMatchObject({ score: 10 })
    expect((await store.history('a', { after: null, limit: 1 })).items).toMatchObject([{ score: 10 }])
    for (const client of [holder, watcher]) await client.end()
    await store.close()
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
