import { BitArray } from '@chainsafe/ssz'
import { describe, expect, test } from 'vitest'
import * as world from '../../../test/support/chainWorld.ts'
import type { ChainState } from './chainState.ts'
import { genesisState } from './genesisState.ts'
import { quorumOf } from './recordCommit.ts'
import { votersOf } from './snapshots.ts'
import type { Commit } from './ssz.ts'

const names = ['ada', 'bob', 'cyd', 'dan']
const genesis = world.genesisOf(names.map((name) => world.accountNamed(name)))
let state: ChainState = genesisState(genesis)
for (let i = 0; i < 4; i++) state = world.advance(state)
const { slot } = state.view
const codeOf = (commit: Commit, at = state) => {
  const made = world.make(at, [], undefined, [commit])
  return 'problem' in made ? made.problem.code : null
}
/** As if only the first so many voters had signed. */
const byFirst = (count: number): Commit => {
  const whole = world.commitOf(state, state.head, slot)
  return { ...whole, voters: BitArray.fromBoolArray(names.map((_, i) => i < count)), sigs: whole.sigs.slice(0, count) }
}

describe('a commit in a block', () => {
  test('needs a block of this branch, the set in charge, more than two thirds, and their signatures', () => {
    const whole = world.commitOf(state, state.head, slot)
    expect(codeOf(whole)).toBeNull()
    expect(codeOf(byFirst(3))).toBeNull()
    expect(codeOf(byFirst(2))).toBe('COMMIT_QUORUM')
    expect(codeOf(byFirst(0))).toBe('COMMIT_VOTERS')
    expect(codeOf({ ...whole, sigs: whole.sigs.slice(1) })).toBe('COMMIT_VOTERS')
    expect(codeOf({ ...whole, voters: BitArray.fromBoolArray([true, true, true, true, true]) })).toBe('COMMIT_VOTERS')
    expect(codeOf({ ...whole, sigs: [...whole.sigs.slice(1), whole.sigs[0]!] })).toBe('SIGNATURE')
    expect(codeOf({ ...whole, round: whole.round - 1n })).toBe('SIGNATURE')
    expect(codeOf(world.commitOf(state, state.head, slot, { late: 1 }))).toBe('COMMIT_LATE')
    expect(codeOf({ ...whole, set: 1n })).toBe('COMMIT_SET')
    for (const [target, targetSlot] of [
      [world.NO_BYTES(32), slot],
      [state.head, slot - 1n],
      [state.genesisHash, 0n],
    ] as const)
      expect(codeOf(world.commitOf(state, target, targetSlot))).toBe('COMMIT_TARGET')
  })

  test('pays the vote part since the last one to those it includes and to the author, and forgets what is final', () => {
    const next = world.advance(state, [], undefined, [byFirst(3)])
    expect(next.view.final.hash).toEqual(state.head)
    expect(next.view.blocks.getReadonly(0).slot).toBe(slot)
    expect(next.view.votesDue).toBe(0n)
    const voters = votersOf(state, 0n)!.voters
    const gained = voters.map(
      ({ account }) => next.view.accounts.locked.get(account) - state.view.accounts.locked.get(account),
    )
    expect(gained.slice(0, 3).every((amount) => amount > 0n)).toBe(true)
    expect(world.unitsOf(next)).toBe(next.view.supply)
    expect(codeOf(byFirst(3), next)).toBe('COMMIT_TARGET')
  })

  test('a set decides about its epoch and the first block after it, no further', () => {
    const later = world.advance(world.advanceTo(state, 1n))
    const blocks = later.view.blocks.getAllReadonlyValues()
    const first = blocks.find((block) => block.slot >= 10n)!
    expect(codeOf(world.commitOf(later, later.head, later.view.slot), later)).toBe('COMMIT_TARGET')
    const handed = world.advance(later, [], undefined, [world.commitOf(later, first.hash, first.slot)])
    expect(votersOf(handed, 0n)).toBeNull()
    expect(votersOf(handed, 1n)!.voters).toHaveLength(4)
    expect(codeOf(world.commitOf(handed, handed.head, handed.view.slot), handed)).toBeNull()
  })

  test('a week after the last final block more than half is enough, and the commit says so', () => {
    const five = [...names, 'eve'].map((name) => world.accountNamed(name))
    const params = { ...genesis.params, lateEpochs: 2n }
    const stalled = world.advanceTo(genesisState(world.genesisOf(five, { params })), 2n)
    const target = stalled.view.blocks.getAllReadonlyValues().find((block) => block.slot >= 10n)!
    const by = (count: number, round: bigint, late: number) => {
      const whole = world.commitOf(stalled, target.hash, target.slot, { round, late })
      const voters = BitArray.fromBoolArray(five.map((_, i) => i < count))
      return codeOf({ ...whole, voters, sigs: whole.sigs.slice(0, count) }, stalled)
    }
    // Round 10 is the first of epoch 2.
    expect(by(3, 10n, 1)).toBeNull()
    expect(by(2, 10n, 1)).toBe('COMMIT_QUORUM')
    expect(by(3, 10n, 0)).toBe('COMMIT_LATE')
    expect(by(3, 9n, 1)).toBe('COMMIT_LATE')
    expect(by(3, 9n, 0)).toBe('COMMIT_QUORUM')
    expect(by(4, 9n, 0)).toBeNull()
  })

  test('attack 351: half is no quorum by a round of a week ahead', () => {
    const ahead = 1_680n / genesis.params.roundSlots
    const whole = world.commitOf(state, state.head, slot, { round: ahead, late: 1 })
    expect(codeOf(whole)).toBe('COMMIT_LATE')
    const last = (slot + 1n) / genesis.params.roundSlots + 1n
    expect(codeOf(world.commitOf(state, state.head, slot, { round: last }))).toBeNull()
    expect(codeOf(world.commitOf(state, state.head, slot, { round: last + 1n }))).toBe('COMMIT_LATE')
  })

  test('a quorum is more than two thirds, or more than a half where it is late', () => {
    expect([quorumOf(9n, false), quorumOf(10n, false), quorumOf(9n, true), quorumOf(10n, true)]).toEqual([
      7n,
      7n,
      5n,
      6n,
    ])
  })
})
