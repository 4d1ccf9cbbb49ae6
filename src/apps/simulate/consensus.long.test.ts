import { expect, test } from 'vitest'
import { byzantineRun } from './consensusRuns.ts'
import { standInCrypto } from './standIns.ts'

const crypto = standInCrypto()

test.each(Array.from({ length: 45 }, (_, i) => `byzantine ${i % 5} ${Math.floor(i / 5)}`))(
  'attack 24: liars under a third, lost and late messages, partitions: no two final blocks conflict (%s)',
  (seed) => expect(byzantineRun(crypto, seed).violation).toBeNull(),
)

test.each(Array.from({ length: 8 }, (_, i) => `whole ${i}`))(
  'attacks 24 and 25: with transfers, rewards and slashing under it no unit is made or lost (%s)',
  (seed) => {
    const { violation, state, caught } = byzantineRun(crypto, seed, { slots: 200, isWhole: true, most: 0.33 })
    expect([violation, state!.leak]).toEqual([null, null])
    expect(state!.punished > 0).toBe(caught > 0)
  },
)
