import { describe, expect, test } from 'vitest'
import { checkSignature, signerFrom } from '../../core/bytes/ed25519.ts'
import { nobleVrf } from '../../core/chain/nobleVrf.ts'
import { byzantineRun, halvesRun, largeRun, silentRun } from './consensusRuns.ts'
import { joinWith, twoPasts } from './joining.ts'
import { type SimulatedCrypto, standInCrypto } from './standIns.ts'

const crypto = standInCrypto()
const seeds = (count: number, name: string) => Array.from({ length: count }, (_, i) => `${name} ${i}`)
const LATE_SLOTS = 168 * 10

describe('finality, simulated', () => {
  test('goes on a few slots behind the clock while all are honest', () => {
    const { finalSlot, violation, delays, caught } = largeRun(crypto, 'calm', 20, 300)
    expect(violation).toBeNull()
    expect(caught).toBe(0)
    expect(finalSlot).toBeGreaterThan(270)
    expect(Math.max(...delays.slice(20))).toBeLessThan(40)
  })

  test('goes on with under a third silent, and stops at a third for a week', () => {
    const quiet = silentRun(crypto, 'quarter', { nodes: 12, quiet: 3, slots: 300 })
    expect(quiet.finalSlot).toBeGreaterThan(290)
    const stuck = silentRun(crypto, 'third', { nodes: 12, quiet: 4, slots: 300 })
    expect(stuck.finalSlot).toBeLessThan(60)
    expect(stuck.violation).toBeNull()
  })

  test('with 40 % silent it resumes a week behind, and catches up once their credit has faded', () => {
    const { delays, finalSlot, violation } = silentRun(crypto, 'forty', { nodes: 5, quiet: 2, slots: 3200 })
    expect(violation).toBeNull()
    const longest = Math.max(...delays)
    expect(longest).toBeGreaterThan(LATE_SLOTS - 40)
    expect(longest).toBeLessThan(LATE_SLOTS + 40)
    expect(finalSlot).toBeGreaterThan(3180)
  })

  test('halves that were apart for 21 epochs, with sets changing, finalise one branch and keep up again', () => {
    for (const seed of seeds(2, 'halves')) {
      const { violation, finalSlot, slots } = halvesRun(crypto, seed, 12, 21)
      expect(violation).toBeNull()
      expect(slots - finalSlot).toBeLessThan(60)
    }
  })

  // More are in consensus.long.test.ts, and 1,000 in §3.12 of docs/spec/chain.md.
  test.each([0, 1])(
    'attack 24: liars under a third, lost and late messages, partitions: no two final blocks conflict (%i)',
    (group) => {
      let caught = 0
      for (const seed of seeds(7, `byzantine ${group}`)) {
        const outcome = byzantineRun(crypto, seed)
        expect([seed, outcome.violation]).toEqual([seed, null])
        caught += outcome.caught
      }
      expect(caught).toBeGreaterThan(0)
    },
  )

  test.each(['1/51', ...seeds(1, 'whole')])(
    'attacks 24 and 25: with transfers, rewards and slashing under it no unit is made or lost (%s)',
    (seed) => {
      const { violation, state, caught } = byzantineRun(crypto, seed, { slots: 200, isWhole: true, most: 0.33 })
      expect([violation, state!.leak]).toEqual([null, null])
      expect(state!.counted).toBeGreaterThan(100)
      expect(state!.punished > 0).toBe(caught > 0)
    },
  )

  test('liars over half of the weight do finalise two branches: the check can fail, and replays to the same event', () => {
    const overHalf = () => byzantineRun(crypto, 'over half 17', { slots: 200, isWhole: false, most: 0.95 })
    const { violation, events } = overHalf()
    expect(violation?.blocks).toHaveLength(2)
    expect(overHalf()).toMatchObject({ violation, events })
  })

  test('attack 24: a past forged with a third of old keys has more score, and no late joiner follows it', () => {
    const setting = { epochSlots: 200, share: 1 / 3, epochs: 9, tries: 2 }
    const pasts = twoPasts(crypto, 'joining', setting)
    expect(pasts.forged.score).toBeGreaterThan(pasts.honest.score)
    expect(joinWith(pasts, ['forged', 'honest'], setting, false)).toBe('honest')
    expect(joinWith(pasts, ['forged'], setting, false)).toBe('forged')
    expect(joinWith(pasts, ['forged'], setting, true)).toBe('none')
  })

  test('real signatures and proofs lead to the same kind of run', () => {
    const real: SimulatedCrypto = { name: 'real', vrf: nobleVrf, checkSignature, signerFrom }
    const { finalSlot, violation } = largeRun(real, 'real', 4, 31)
    expect(violation).toBeNull()
    expect(finalSlot).toBeGreaterThan(10)
  })
})
