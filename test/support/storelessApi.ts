import type { ApiDeps } from '../../src/apps/api/apiDeps.ts'
import { BOX_METRICS } from '../../src/apps/api/boxMetrics.ts'
import { createApi } from '../../src/apps/api/createApi.ts'
import { createLiveRuns } from '../../src/apps/shared/createLiveRuns.ts'
import { systemClock } from '../../src/drivers/system/systemClock.ts'
import { textMetrics } from '../../src/drivers/system/textMetrics.ts'
import type { Store } from '../../src/ports/store.ts'
import { SILENT_LOG } from './silentLog.ts'

const overview = { boxes: 0, byStatus: {}, byClaimVerdict: {}, resultsLastHour: 0 }
const empty: Partial<Store> = {
  ping: async () => {},
  boxes: async () => ({ items: [], next: null }),
  lastRound: async () => null,
  queue: async () => ({ waiting: 0, held: 0, done: 0, lagSeconds: 0 }),
  overview: async () => overview,
  statistics: async () => ({ ...overview, providers: 0, results: 0, rejectedByCode: {}, figures: [] }),
}

/** The API of a fleet without boxes, for tests of everything but what a store holds. */
export const storelessApi = (more: Partial<ApiDeps> = {}) =>
  createApi({
    store: empty as Store,
    live: createLiveRuns(),
    metrics: textMetrics(BOX_METRICS),
    log: SILENT_LOG,
    clock: systemClock,
    decay: { freshMs: 1, halfLifeMs: 1 },
    catalogue: { models: [] } as Partial<ApiDeps['catalogue']> as ApiDeps['catalogue'],
    self: '',
    writers: [],
    requestsPerMinute: 100_000,
    program: 'touchstone 0.1.0',
    addressOf: async ({ address }) => address,
    whenSent: (_, done) => done(),
    clientOf: () => 'test',
    ...more,
  })
