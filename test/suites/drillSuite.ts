import fc from 'fast-check'
import { expect, test } from 'vitest'
import { taggedHash } from '../../src/core/bytes/sha256.ts'
import { CHAIN_PRESETS } from '../../src/core/chain/params.ts'
import * as world from '../support/chainWorld.ts'
import { type Behaviour, Drillers } from '../support/drillers.ts'

const names = ['ada', 'bob', 'cyd', 'dan', 'eve']
const params = { ...CHAIN_PRESETS.tiny, tasksPerEpoch: 1n }

/** Ways to be paid for less than the work, or to keep others from being paid. Each liar has a lie of its own. */
const WAYS: Record<string, (name: string) => Behaviour> = {
  'another result': (name) => ({ chunk: (task, index) => taggedHash(name, task.seed, Uint8Array.of(index)) }),
  'one wrong chunk': (name) => ({ chunk: (task, index) => (index === 5 ? taggedHash(name, task.seed) : null) }),
  'no commitment': () => ({ commits: false }),
  'no reveal': () => ({ reveals: false }),
  'no opening': () => ({ opens: false }),
}
const isLie = (way: string | null) => way === 'another result' || way === 'one wrong chunk'

function drilled(ways: readonly (string | null)[], epochs: bigint): Drillers {
  const behaviours = Object.fromEntries(names.flatMap((name, i) => (ways[i] ? [[name, WAYS[ways[i]]!(name)]] : [])))
  const drillers = new Drillers(names, behaviours, { params }).runToReady()
  drillers.disputes = true
  drillers.runTo(drillers.state.view.epoch + epochs)
  return drillers
}

/** Up to two of five do not do as they should; a round with an appeal takes 36 epochs. */
export function drillSuite(runs: number, epochs: bigint): void {
  const way = fc.constantFrom(...Object.keys(WAYS))
  test('attacks 19, 20: property: who does what is due loses nothing, a lie is never paid, and no unit is made or lost', () => {
    fc.assert(
      fc.property(way, way, fc.shuffledSubarray([0, 1, 2, 3, 4], { minLength: 2, maxLength: 2 }), (one, two, who) => {
        const ways = names.map((_, i) => (i === who[0] ? one : i === who[1] ? two : null))
        const drillers = drilled(ways, epochs)
        const { accounts } = drillers.state.view
        const [totals, failures] = [drillers.totals(), drillers.failures()]
        for (const [i, name] of names.entries()) {
          const place = drillers.place(name)
          if (ways[i] === null)
            expect([name, failures[i], accounts.deposit.get(place)]).toEqual([name, 0n, world.tokens(10)])
          if (isLie(ways[i]!)) expect([name, totals[i]]).toEqual([name, 0n])
        }
        if (epochs > 36n) expect(totals.some((total) => total > 0n)).toBe(true)
        expect(world.unitsOf(drillers.state)).toBe(drillers.state.view.supply)
      }),
      { numRuns: runs, seed: 7 },
    )
  })
}
