import { describe, expect, test } from 'vitest'
import * as world from '../../../test/support/chainWorld.ts'
import { endEpoch } from './epoch/endEpoch.ts'
import { genesisState } from './genesisState.ts'
import { atStake, NOBODY, reward, slash, unitsHeld } from './ledger.ts'
import { balanceOf } from './purse.ts'
import { UnlockType } from './stateType.ts'

const [LIAR, REPORTER] = [0, 1]
const SLASHED = ['bond', 'locked'] as const

/** A liar with a bond of 1 000, 10 locked and 300 of its bond on the way out. */
function money() {
  const { view, params } = genesisState(world.genesisOf([world.accountNamed('liar'), world.accountNamed('reporter')]))
  view.accounts.locked.set(LIAR, world.tokens(10))
  view.unlocks.push(UnlockType.toViewDU({ account: LIAR, purpose: 0, amount: world.tokens(300), epoch: 0n }))
  view.accounts.unlocking.set(LIAR, 1)
  view.supply += world.tokens(310)
  return { state: view, accounts: view.accounts, params }
}

describe('a reward', () => {
  test('is locked, and half of it fills the bond up to what a voter needs', () => {
    const all = money()
    const { accounts, state } = all
    accounts.bond.set(REPORTER, world.tokens(970))
    state.supply -= world.tokens(30)
    for (const [bond, locked] of [
      [990, 20],
      [1_000, 50],
      [1_000, 90],
    ] as const) {
      reward(all, REPORTER, world.tokens(40))
      expect(accounts.bond.get(REPORTER)).toBe(world.tokens(bond))
      expect(accounts.locked.get(REPORTER)).toBe(world.tokens(locked))
    }
    expect(unitsHeld(state)).toBe(state.supply)
  })

  test('is released over a week, a 168th of what is left at the end of each epoch, to the last unit', () => {
    const all = money()
    const { accounts } = all
    const before = balanceOf(accounts, LIAR)
    endEpoch(all)
    expect(balanceOf(accounts, LIAR) - before).toBe((world.tokens(10) + 167n) / 168n)
    accounts.locked.set(LIAR, 3n)
    for (let i = 0; i < 3; i++) endEpoch(all)
    expect(accounts.locked.get(LIAR)).toBe(0n)
  })
})

describe('a slash', () => {
  test.each([
    [100, { bond: 900, locked: 10, leaving: 300 }],
    [1_005, { bond: 0, locked: 5, leaving: 300 }],
    [1_200, { bond: 0, locked: 0, leaving: 110 }],
    [9_999, { bond: 0, locked: 0, leaving: 0 }],
  ])('of %i takes the bond, then what is locked, then what is leaving: %o', (asked, left) => {
    const all = money()
    const { state, accounts } = all
    const taken = 1_310 - left.bond - left.locked - left.leaving
    slash(all, LIAR, SLASHED, world.tokens(asked), REPORTER)
    state.commit()
    expect(accounts.bond.get(LIAR)).toBe(world.tokens(left.bond))
    expect(accounts.locked.get(LIAR)).toBe(world.tokens(left.locked))
    expect(atStake(all, LIAR, SLASHED)).toBe(world.tokens(1_310 - taken))
    // A tenth to the reporter, the rest is gone for all.
    expect(balanceOf(accounts, REPORTER)).toBe(world.tokens(100_000) + world.tokens(taken) / 10n)
    expect(unitsHeld(state)).toBe(state.supply)
  })

  test('that nobody reported is gone altogether', () => {
    const all = money()
    slash(all, LIAR, SLASHED, world.tokens(100), NOBODY)
    expect(all.state.supply).toBe(world.tokens(2 * 101_000 + 310 - 100))
    expect(unitsHeld(all.state)).toBe(all.state.supply)
  })
})
