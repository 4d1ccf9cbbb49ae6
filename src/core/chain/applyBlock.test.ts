import { describe, expect, test } from 'vitest'
import * as world from '../../../test/support/chainWorld.ts'
import { applyBlock } from './applyBlock.ts'
import { findAccount, located } from './chainState.ts'
import { genesisState, stateFromBytes, stateRoot } from './genesisState.ts'
import { partOf } from './ledger.ts'
import { balanceOf as purseBalance } from './purse.ts'
import { TransferType } from './transactions/payloads.ts'

const names = ['ada', 'bob', 'cyd', 'dan']
const genesis = world.genesisOf(names.map((name) => world.accountNamed(name)))
const start = genesisState(genesis)
const [ada, bob] = names.map(world.keyNamed) as [Uint8Array, Uint8Array]
const transfer = (state: typeof start, from: Uint8Array, to: Uint8Array, amount: bigint) =>
  world.txOf(state, from, 0, TransferType.serialize({ to, amount }))
const balanceOf = (state: typeof start, key: Uint8Array) => {
  const place = findAccount(located(state), key)
  return place === -1 ? null : purseBalance(state.view.accounts, place)
}

describe('a block', () => {
  test('moves money, counts the fee, pays the author and leaves the old state alone', () => {
    const before = stateRoot(start)
    const newcomer = world.keyNamed('new')
    const tx = transfer(start, ada, newcomer, 5n)
    const next = world.advance(start, [tx])
    expect(balanceOf(next, newcomer)).toBe(5n)
    expect(stateRoot(start)).toEqual(before)
    expect(balanceOf(start, newcomer)).toBeNull()
    const made = world.make(start)
    if ('problem' in made) throw new Error(made.problem.code)
    const full = partOf('blockShare', 0n, start.params) / 10n
    const issued = next.view.supply - start.view.supply + (tx.fee - tx.fee / 2n)
    expect([full, (full * 30n) / 100n]).toContain(issued)
    expect(world.unitsOf(next)).toBe(next.view.supply)
  })

  test('goes on through epochs, and a state comes back from its bytes', () => {
    let state = start
    for (let i = 0; i < 45; i++) {
      const commit = i % 3 === 2 ? [world.commitOfHead(state)] : []
      state = world.advance(state, i % 5 === 0 ? [transfer(state, bob, ada, 7n)] : [], undefined, commit)
      expect(world.unitsOf(state)).toBe(state.view.supply)
    }
    expect(state.view.epoch).toBe(4n)
    expect(state.view.final.slot).toBeGreaterThan(30n)
    const copy = stateFromBytes(genesis, state.head, state.view.serialize())!
    expect(stateRoot(copy)).toEqual(stateRoot(state))
    const made = world.make(copy, [transfer(copy, ada, bob, 1n)])
    if ('problem' in made) throw new Error(made.problem.code)
    expect('state' in applyBlock(state, made.block, world.standIns)).toBe(true)
  })
})
