import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { shippedCatalogue } from '../../../test/sim/shippedCatalogue.ts'
import { embeddedFolder } from '../../../test/support/embeddedFolder.ts'
import { type Sent, signedWrite, VALIDATOR, WRITER } from '../../../test/support/signedWrite.ts'
import { entry, finishOf, job, resultOf } from '../../../test/support/storeFixtures.ts'
import { testSigner } from '../../../test/support/testSigner.ts'
import { checkScoreProof, scoreProof, sealRound } from '../../core/ledger/roundRecord.ts'
import { fault as storeFault } from '../../drivers/store/faults.ts'
import { openEmbedded } from '../../drivers/store/openEmbedded.ts'
import { systemClock } from '../../drivers/system/systemClock.ts'
import { textMetrics } from '../../drivers/system/textMetrics.ts'
import { fault } from '../../main/faults.ts'
import type { Store } from '../../ports/store.ts'
import { createLiveRuns } from '../shared/createLiveRuns.ts'
import type { ApiDeps } from './apiDeps.ts'
import { BOX_METRICS } from './boxMetrics.ts'
import { createApi } from './createApi.ts'

const runId = 'ab'.repeat(16)
let made: { readonly folder: string; end(): void }
let store: Store
let deps: ApiDeps
const logged: Readonly<Record<string, unknown>>[] = []
const noted = (msg: string, fields = {}): void => void logged.push({ msg, ...fields })

beforeAll(async () => {
  made = await embeddedFolder()
  store = await openEmbedded({ folder: made.folder })
  deps = {
    store,
    live: createLiveRuns(),
    metrics: textMetrics([...BOX_METRICS, { name: 'jobs_total', help: 'Jobs.', type: 'counter' }]),
    log: { debug: noted, info: noted, warn: noted, error: noted },
    clock: systemClock,
    catalogue: await shippedCatalogue(),
    decay: { freshMs: 3_600_000, halfLifeMs: 3_600_000 },
    self: VALIDATOR,
    writers: [WRITER],
    requestsPerMinute: 100_000,
    program: 'touchstone 0.1.0',
    addressOf: async ({ address }) => address,
    whenSent: (_, done) => done(),
    clientOf: () => 'test',
  }
  for (const id of ['a', 'b', 'c']) await store.putBox(entry(id, { claim: id === 'a' ? 'H100 SXM' : null }))
  await store.openRound({ number: 7, height: 2520, jobs: [job('a', { round: 7 })] })
  const [leased] = await store.takeJobs({ owner: 'o', holdMs: 60_000, limit: 1 })
  const figures = [{ device: 0, name: 'rate.int8.per_second', value: 5e12 }]
  const result = resultOf({ runId, certificate: '{"x":1}\n', figures, claimVerdict: 'matches' })
  await store.finishJob(finishOf(leased!, 'o', { result }))
  await store.settle(7, null)
})
afterAll(async () => {
  await store?.close()
  made?.end()
})

const get = async (path: string, more: Partial<ApiDeps> = {}) => {
  const response = await createApi({ ...deps, ...more }).request(path)
  return { status: response.status, body: (await response.json()) as Record<string, never>, response }
}

test('a closed round is shown as it was signed, and the proof of a score holds; others are not found', async () => {
  const entries = ['a', 'b', 'c'].map((box, i) => ({ box, score: i, certificate: null }))
  const record = sealRound({ round: 7, closedAtMs: 5, entries }, testSigner(5))
  expect(await get('/v1/boxes/b/proof')).toMatchObject({
    status: 404,
    body: { error: { code: 'NOT_FOUND', nextStep: expect.stringContaining('Ask again when the round is over') } },
  })
  await store.keepRound(record)
  const { body: kept } = await get('/v1/rounds/7/record')
  expect(kept).toEqual({ record, state: 'waiting', said: null })
  for (const path of ['/v1/boxes/b/proof', '/v1/boxes/b/proof?round=7']) {
    const { body: proof } = await get(path)
    expect(checkScoreProof(scoreProof.parse(proof))).toBeNull()
    expect(proof).toMatchObject({ entry: { box: 'b', score: 1 }, round: 7, validator: VALIDATOR })
  }
  const statuses = async (...paths: string[]) => await Promise.all(paths.map(async (path) => (await get(path)).status))
  expect(await statuses('/v1/boxes/other/proof', '/v1/boxes/b/proof?round=8', '/v1/rounds/8/record')).toEqual([
    404, 404, 404,
  ])
  expect(await statuses('/v1/boxes/b/proof?round=0', '/v1/boxes/b/proof?round=x', '/v1/rounds/1.5/record')).toEqual([
    400, 400, 400,
  ])
})

const write = (method: string, path: string, body: unknown, sent: Sent = {}, api = createApi(deps)) =>
  signedWrite(api, method, path, body, sent)

describe('reading', () => {
  test('boxes come page by page, filtered, without the way in', async () => {
    const first = await get('/v1/boxes?limit=2')
    expect(first.body).toMatchObject({ items: [{ id: 'a', status: 'verified', score: 100 }, { id: 'b' }], next: 'b' })
    expect((await get(`/v1/boxes?limit=2&after=${first.body.next}`)).body).toMatchObject({
      items: [{ id: 'c' }],
      next: null,
    })
    expect((await get('/v1/boxes?status=verified')).body).toMatchObject({ items: [{ id: 'a' }], next: null })
    expect(JSON.stringify(first.body)).not.toContain('ssh://')
  })

  test('the verdict on a claim is told of a box, a result and a spec, and boxes are found by it', async () => {
    const [claim, claimVerdict] = ['H100 SXM', 'matches']
    expect((await get('/v1/boxes?claimVerdict=matches')).body).toMatchObject({
      items: [{ id: 'a', claim, claimVerdict }],
    })
    expect((await get('/v1/boxes?claimVerdict=different')).body).toMatchObject({ items: [], next: null })
    expect((await get('/v1/boxes?status=claim-unmet')).body).toMatchObject({ items: [], next: null })
    expect((await get('/v1/boxes?claimVerdict=fine')).status).toBe(400)
    expect((await get('/v1/boxes/a/history')).body).toMatchObject({ items: [{ claimVerdict }] })
    expect((await get('/v1/providers/alice/specs')).body).toMatchObject({ items: [{ claim, claimVerdict }, {}, {}] })
    const components: { schemas: Record<string, object> } = (await get('/openapi.json')).body.components!
    for (const name of ['Box', 'BoxSummary', 'Result', 'ResultSummary', 'ProviderSpec'])
      expect(components.schemas[name]).toMatchObject({
        properties: { claimVerdict: { description: expect.any(String) } },
      })
  })

  test('one box, its history, a result, the rounds, a provider’s specs and the statistics', async () => {
    expect((await get('/v1/boxes/a')).body).toMatchObject({ id: 'a', scoreNow: 100 })
    const history = await get('/v1/boxes/a/history')
    expect(history.body).toMatchObject({
      items: [{ runId, outcome: 'accepted', figures: [{ value: 5e12 }] }],
      next: null,
    })
    const items: { id: number }[] = history.body.items!
    const { id } = items[0]!
    expect((await get(`/v1/results/${id}`)).body).toMatchObject({ id, boxId: 'a' })
    expect((await get('/v1/rounds')).body).toMatchObject({ items: [{ number: 7, height: 2520, done: 1 }] })
    expect((await get('/v1/providers/alice/specs')).body).toMatchObject({ items: [{ boxId: 'a', runId }, {}, {}] })
    expect((await get('/v1/statistics')).body).toMatchObject({ boxes: 3, byStatus: { new: 2, verified: 1 } })
    expect((await get('/v1/status')).body).toMatchObject({ boxes: 3, round: { number: 7 }, queue: { done: 1 } })
    for (const path of ['/v1/statistics', '/v1/status'])
      expect((await get(path)).body).toMatchObject({ byClaimVerdict: { matches: 1 } })
  })

  test('a score is shown as it has aged', async () => {
    const later = { ...systemClock, wallTime: () => new Date(Date.now() + 7_200_000) }
    const { body } = await get('/v1/boxes/a', { clock: later })
    expect(body).toMatchObject({ score: 100 })
    expect(body.scoreNow).toBeGreaterThan(45)
    expect(body.scoreNow).toBeLessThan(55)
  })

  test('a certificate downloads byte for byte', async () => {
    const response = await createApi(deps).request(`/v1/certificates/${runId}`)
    expect(await response.text()).toBe('{"x":1}\n')
    expect(response.headers.get('content-disposition')).toBe(`attachment; filename="touchstone-${runId}.json"`)
  })

  test('what is not there or not well asked is refused with a code', async () => {
    expect((await get('/v1/boxes/nobody')).status).toBe(404)
    expect((await get('/v1/certificates/00')).body).toMatchObject({ error: { code: 'BAD_REQUEST' } })
    expect((await get('/v1/boxes?limit=100000')).body).toMatchObject({ error: { code: 'BAD_REQUEST' } })
    expect((await get('/v1/boxes?after=%00')).body).toMatchObject({ error: { code: 'BAD_REQUEST' } })
    expect((await get('/v1/results/9007199254740991')).status).toBe(404)
    expect((await get('/v1/results/1e300')).status).toBe(400)
    expect((await get('/v1/boxes/a/history?after=999999999999999')).status).toBe(200)
    expect((await get('/v1/boxes/..%2f..%2fetc')).status).toBe(400)
    expect((await get('/nothing')).body).toMatchObject({ error: { code: 'NOT_FOUND' } })
  })

  test('health follows the store, and a store that is away is a 503, not a crash', async () => {
    expect((await get('/health')).body).toMatchObject({ ok: true })
    const away = new Proxy(store, { get: () => () => Promise.reject(new Error('secret words')) })
    expect((await get('/health', { store: away })).status).toBe(503)
    const { status, body } = await get('/v1/boxes', { store: away })
    expect([status, body]).toMatchObject([503, { error: { code: 'STORE_UNAVAILABLE' } }])
    expect(JSON.stringify(body)).not.toContain('secret words')
    expect(await (await createApi({ ...deps, store: away }).request('/metrics')).text()).not.toContain('box="a"')
  })

  test('a mistake of the validator is not blamed on its store, and is logged without its words', async () => {
    const boxes = () => Promise.reject(new TypeError('secret words'))
    const broken = new Proxy(store, { get: (target, name) => (name === 'boxes' ? boxes : Reflect.get(target, name)) })
    const { status, body } = await get('/v1/boxes', { store: broken })
    expect([status, body]).toMatchObject([500, { error: { code: 'INTERNAL' } }])
    expect(logged.at(-1)).toEqual({ msg: 'a request failed', path: '/v1/boxes', error: 'TypeError', ours: true })
  })

  test('metrics are text, and tell the boxes by status and one by one', async () => {
    const text = await (await createApi(deps).request('/metrics')).text()
    expect(text).toContain('# TYPE jobs_total counter')
    expect(text).toContain('\ntouchstone_boxes{status="new"} 2\n')
    expect(text).toContain('\ntouchstone_boxes{status="failed"} 0\n')
    expect(text).toContain('\ntouchstone_box_status{box="a",status="verified"} 1\n')
    expect(text).toContain('\ntouchstone_box_score_points{box="a"} 100\n')
    expect(text).toMatch(/\ntouchstone_box_last_result_timestamp_seconds\{box="a"\} \d{10}\n/)
    expect(text).not.toContain('timestamp_seconds{box="b"}')
  })
})

describe('attack 89: fat inventories, and pages of them', () => {
  test('no list has a judgement or an inventory; the result and the box themselves do', async () => {
    const fat = { claims: 'x'.repeat(200_000) }
    await store.putBox(entry('fat', { provider: 'fatty' }))
    await store.addJob(job('fat', { round: 8 }))
    const [leased] = await store.takeJobs({ owner: 'o', holdMs: 60_000, limit: 1 })
    const result = resultOf({ inventory: fat as never, judgement: fat })
    const { id } = (await store.finishJob(finishOf(leased!, 'o', { result })))!
    for (const path of ['/v1/boxes', '/v1/boxes/fat/history', '/v1/providers/fatty/specs']) {
      const text = await (await createApi(deps).request(path)).text()
      expect(text.length).toBeLessThan(4000)
      expect(text).not.toMatch(/"(inventory|judgement)"/)
    }
    expect((await get('/v1/providers/fatty/specs')).body).toMatchObject({ items: [{ boxId: 'fat', result: id }] })
    expect((await get(`/v1/results/${id}`)).body).toMatchObject({ inventory: fat, judgement: fat })
    expect((await get('/v1/boxes/fat')).body).toMatchObject({ inventory: fat })
    await store.removeBox('fat')
  })

  test('a page has at most 1 MiB, and the pages together have everything', async () => {
    const [one] = (await store.history('a', { after: null, limit: 1 })).items
    const items = Array.from({ length: 100 }, (_, i) => ({ ...one!, id: 100 - i, detail: { got: 'é'.repeat(25_000) } }))
    const history: Store['history'] = async (_, { after, limit }) => {
      const left = items.filter(({ id }) => after === null || id < Number(after))
      return { items: left.slice(0, limit), next: left.length > limit ? String(left[limit - 1]!.id) : null }
    }
    const many = new Proxy(store, { get: (target, name) => (name === 'history' ? history : Reflect.get(target, name)) })
    const seen: number[] = []
    let after: string | null = ''
    while (after !== null) {
      const more = after === '' ? '' : `&after=${after}`
      const text = await (
        await createApi({ ...deps, store: many }).request(`/v1/boxes/a/history?limit=200${more}`)
      ).text()
      expect(new TextEncoder().encode(text).length).toBeLessThan(1.1 * 1024 * 1024)
      const page = JSON.parse(text) as { items: { id: number }[]; next: string | null }
      seen.push(...page.items.map(({ id }) => id))
      after = page.next
    }
    expect(seen).toEqual(items.map(({ id }) => id))
  })
})

describe('writing', () => {
  const box = { address: 'ssh://root@host:22', provider: 'bob' }

  test('a signed request adds, allocates, verifies and removes a box', async () => {
    expect((await write('PUT', '/v1/boxes/new', box)).body).toEqual({ done: true })
    expect(await store.box('new')).toMatchObject({ address: 'ssh://root@host:22', claim: null })
    expect((await write('POST', '/v1/boxes/new/allocation', { allocated: true })).status).toBe(200)
    // Whoever changes what it is sold as says nothing of its renter.
    await write('PUT', '/v1/boxes/new', { ...box, claim: 'H100 SXM' })
    expect(await store.box('new')).toMatchObject({ claim: 'H100 SXM', allocated: true })
    expect((await write('POST', '/v1/boxes/new/verify', undefined)).body).toEqual({ done: true, why: null })
    expect((await write('POST', '/v1/boxes/new/verify', undefined)).body).toMatchObject({
      done: false,
      why: { code: 'ALREADY_WAITING', nextStep: expect.stringContaining('/v1/boxes/new/history') },
    })
    const [leased] = await store.takeJobs({ owner: 'o', holdMs: 60_000, limit: 1 })
    const { id } = (await store.finishJob(finishOf(leased!, 'o')))!
    expect((await write('POST', '/v1/boxes/new/verify', undefined)).body).toMatchObject({
      done: false,
      why: { code: 'ALREADY_RUN', nextStep: expect.stringContaining(`/v1/results/${id}`) },
    })
    expect((await write('DELETE', '/v1/boxes/new', undefined)).status).toBe(200)
    expect((await write('DELETE', '/v1/boxes/new', undefined)).status).toBe(404)
    expect(logged.filter(({ box }) => box === 'new').map(({ msg }) => msg)).toEqual([
      'box told over the API',
      'box allocated',
      'box told over the API',
      'run asked for',
      'run not asked for again',
      'run not asked for again',
      'box removed',
    ])
  })

  test('attack 325: who asks again is told the truth, also after a rent or a removal', async () => {
    const ask = async () => (await write('POST', '/v1/boxes/brief/verify', undefined)).body
    const rent = (allocated: boolean) => write('POST', '/v1/boxes/brief/allocation', { allocated })
    const run = async (retryInMs: number | null = null) => {
      const [leased, ...more] = await store.takeJobs({ owner: 'o', holdMs: 60_000, limit: 9 })
      expect(more).toEqual([])
      await store.finishJob(finishOf(leased!, 'o', { retryInMs }))
    }
    await write('PUT', '/v1/boxes/brief', box)
    await ask()
    // A light look that was asked for is another run than the full one.
    await rent(true)
    expect(await ask()).toMatchObject({ done: true })
    await run()
    expect(await ask()).toMatchObject({ done: false, why: { code: 'ALREADY_RUN' } })
    await rent(false)
    expect(await ask()).toMatchObject({ done: false, why: { code: 'ALREADY_WAITING' } })
    await write('DELETE', '/v1/boxes/brief', undefined)
    await write('PUT', '/v1/boxes/brief', box)
    expect(await ask()).toMatchObject({ done: true })
    // One that is tried again has a result, and waits.
    await run(0)
    expect(await ask()).toMatchObject({ done: false, why: { code: 'ALREADY_WAITING' } })
    await run()
    expect(await ask()).toMatchObject({ done: false, why: { code: 'ALREADY_RUN' } })
    await write('DELETE', '/v1/boxes/brief', undefined)
  })

  test('a backup that cannot be written says why to whoever may ask for it', async () => {
    const backup = () => Promise.reject(storeFault('BACKUP_NOT_WRITTEN', { file: 'b.gz', why: 'ENOSPC' }))
    const { status, body } = await write('POST', '/v1/backup', undefined, {}, createApi({ ...deps, backup }))
    expect([status, body.error]).toMatchObject([500, { code: 'BACKUP_NOT_WRITTEN' }])
  })

  test('a claim that names no known card is refused with what was probably meant, and nothing is kept', async () => {
    const { status, body } = await write('PUT', '/v1/boxes/typo', { ...box, claim: '8x H10' })
    expect([status, body.error]).toMatchObject([
      400,
      { code: 'BAD_CLAIM', nextStep: expect.stringContaining('"8x H100"') },
    ])
    expect(await store.box('typo')).toBeNull()
    expect((await write('PUT', '/v1/boxes/typo', { ...box, claim: '8x H100' })).status).toBe(200)
    await store.removeBox('typo')
  })

  test('attack 93: the machine of the validator itself is refused, and nothing is kept', async () => {
    const addressOf = async ({ address }: { readonly address: string }) => {
      if (address === 'local') throw fault('OWN_MACHINE')
      return 'ssh://as@it.is:22'
    }
    const api = createApi({ ...deps, addressOf })
    const { status, body } = await write('PUT', '/v1/boxes/us', { ...box, address: 'local' }, {}, api)
    expect([status, body.error]).toMatchObject([
      400,
      { code: 'OWN_MACHINE', nextStep: expect.stringContaining('api.ownMachine') },
    ])
    expect(await store.box('us')).toBeNull()
    expect((await write('PUT', '/v1/boxes/them', box, {}, api)).status).toBe(200)
    expect(await store.box('them')).toMatchObject({ address: 'ssh://as@it.is:22' })
    await store.removeBox('them')
  })

  test('attack 155: an address that another box has is refused, and nothing is kept or changed', async () => {
    expect((await write('PUT', '/v1/boxes/one', box)).status).toBe(200)
    const { status, body } = await write('PUT', '/v1/boxes/two', box)
    expect([status, body.error]).toMatchObject([
      409,
      { code: 'ADDRESS_TAKEN', message: expect.stringContaining('one') },
    ])
    expect(await store.box('two')).toBeNull()
    expect((await write('PUT', '/v1/boxes/one', { ...box, provider: 'carol' })).status).toBe(200)
    await store.removeBox('one')
    expect((await write('PUT', '/v1/boxes/two', box)).status).toBe(200)
    await store.removeBox('two')
  })

  test('the same request works once', async () => {
    const nonce = '0'.repeat(32)
    expect((await write('PUT', '/v1/boxes/once', box, { nonce })).status).toBe(200)
    expect((await write('PUT', '/v1/boxes/once', box, { nonce })).body.error?.code).toBe('REPLAYED')
    await store.removeBox('once')
  })
})
