import { expect, test } from 'vitest'
import { testRules } from '../../../test/support/fleetKit.ts'
import { entry } from '../../../test/support/storeFixtures.ts'
import { textMetrics } from '../../drivers/system/textMetrics.ts'
import type { BoxSummary, Store } from '../../ports/store.ts'
import { BOX_METRICS, tellBoxes } from './boxMetrics.ts'

test('attack 305: points that are scraped at once are of one window, however many pages the boxes fill', async () => {
  let holder = 'a'
  const boxOf = (id: string) => {
    const counts = { score: 100, scoredAt: null, current: id === holder, status: 'verified', last: null }
    return { ...entry(id), ...counts } as Partial<BoxSummary> as BoxSummary
  }
  const store = {
    overview: async () => ({ boxes: 2, byStatus: { verified: 2 }, byClaimVerdict: {}, resultsLastHour: 2 }),
    // When the first page is read, the window in which the other box showed the same card is over.
    boxes: async (_, { after }) => {
      const id = after === null ? 'a' : 'b'
      const page = { items: [boxOf(id)], next: id === 'a' ? id : null }
      holder = 'b'
      return page
    },
    standings: async () => ['a', 'b'].map((id) => ({ ...boxOf(id), certificate: null })),
  } as Partial<Store> as Store
  const metrics = textMetrics(BOX_METRICS)
  const { decay } = (await testRules()).score
  await tellBoxes(metrics, store, { now: new Date(), decay })
  const points = [...metrics.text().matchAll(/score_points\{box="(.)"\} (\d+)/g)].map(([, box, score]) => [box, score])
  expect(points).toEqual([
    ['a', '0'],
    ['b', '100'],
  ])
})
