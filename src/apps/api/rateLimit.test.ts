import { expect, test } from 'vitest'
import { storelessApi } from '../../../test/support/storelessApi.ts'
import { testSigner } from '../../../test/support/testSigner.ts'
import { type RoundRecord, sealRound } from '../../core/ledger/roundRecord.ts'
import { systemClock } from '../../drivers/system/systemClock.ts'
import { textMetrics } from '../../drivers/system/textMetrics.ts'
import type { Store } from '../../ports/store.ts'
import type { ApiDeps } from './apiDeps.ts'
import { BOX_METRICS } from './boxMetrics.ts'

const stopped = { ...systemClock, monotonicUs: () => 0 }
const apiWith = (more: Partial<ApiDeps>) => storelessApi({ clock: stopped, requestsPerMinute: 8, ...more })
const codesOf = async (api: ReturnType<typeof storelessApi>, path: string, times: number) => {
  const codes: number[] = []
  for (let i = 0; i < times; i++) codes.push((await api.request(path)).status)
  return codes
}

test('an asker that asks too much waits; others do not', async () => {
  let who = 'x'
  const api = apiWith({ clientOf: () => who })
  expect(await codesOf(api, '/v1/boxes', 4)).toEqual([200, 200, 429, 429])
  expect((await api.request('/v1/boxes')).headers.get('retry-after')).toBe('8')
  who = 'y'
  expect((await api.request('/v1/boxes')).status).toBe(200)
})

test('attack 60: an asker that changes its address within its /64 is still one asker', async () => {
  let last = 0
  const api = apiWith({ clientOf: () => `2001:db8:0:7::${(++last).toString(16)}` })
  expect(await codesOf(api, '/v1/boxes', 4)).toEqual([200, 200, 429, 429])
})

test.each(['/health', '/metrics', '/openapi.json'])(
  '%s has a limit of its own, far above a scraper that asks every second',
  async (path) => {
    const api = apiWith({ requestsPerMinute: 4 })
    expect(await codesOf(api, '/v1/boxes', 2)).toEqual([200, 429])
    expect(new Set(await codesOf(api, path, 120))).toEqual(new Set([200]))
    expect((await codesOf(api, path, 40)).at(-1)).toBe(429)
  },
)

test('attack 274: those who ask for the metrics at once get one text, which is made once', async () => {
  let made = 0
  const metrics = textMetrics(BOX_METRICS)
  const text = () => {
    made++
    return metrics.text()
  }
  const api = storelessApi({ metrics: { ...metrics, text } })
  const pages = await Promise.all(Array.from({ length: 100 }, async () => (await api.request('/metrics')).text()))
  expect(new Set(pages)).toEqual(new Set([metrics.text()]))
  expect(made).toBe(1)
})

test('attack 276: of proofs that are asked for at once each has a turn of its own, so that others are heard in between', async () => {
  const entries = [{ box: 'a', score: 7, certificate: null }]
  const { entries: _, ...sealed } = sealRound({ round: 1, closedAtMs: 1, entries }, testSigner(1))
  let turn = 0
  const made: number[] = []
  const record: RoundRecord = {
    ...sealed,
    get entries() {
      made.push(turn)
      return entries
    },
  }
  const store: Partial<Store> = { keptRound: async () => ({ record, state: 'waiting', tries: 0, said: null }) }
  const api = storelessApi({ store: store as Store })
  let counting: NodeJS.Immediate
  const count = () => {
    turn++
    counting = setImmediate(count)
  }
  count()
  const asked = Array.from({ length: 8 }, async () => (await api.request('/v1/boxes/a/proof')).status)
  expect(await Promise.all(asked)).toEqual(Array(8).fill(200))
  clearImmediate(counting!)
  expect(new Set(made).size).toBe(8)
})
