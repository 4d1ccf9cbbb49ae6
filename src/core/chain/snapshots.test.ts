import { describe, expect, test } from 'vitest'
import * as world from '../../../test/support/chainWorld.ts'
import { findAccount, located } from './chainState.ts'
import { genesisState } from './genesisState.ts'
import type { GenesisAccount } from './genesisType.ts'
import { eligibleIn, lotteryPlace, takeSnapshot, votersOf } from './snapshots.ts'
import { possessionAlpha } from './transactions/money.ts'
import { VrfKeyType } from './transactions/payloads.ts'

/** W_boot of the preset: 10^9 µut a day. Power by drilling weighs 0.4. */
const BOOT = 10n ** 9n
const idle = (name: string, more: Partial<GenesisAccount> = {}) => world.accountNamed(name, { drilled: 0n, ...more })

describe('boot weight', () => {
  const authorities = ['ann', 'ben'].map(world.keyNamed)
  const stateWith = (...others: GenesisAccount[]) =>
    genesisState(world.genesisOf([idle('ann'), idle('ben', { bond: 0n }), ...others], { authorities }))
  /** Weights in the lottery by name, as they are drawn from. */
  const weightsOf = (state: ReturnType<typeof stateWith>, ...names: string[]) =>
    names.map((name) => lotteryPlace(state.view, 0n, findAccount(located(state), world.keyNamed(name))))

  test('is what is missing, in equal parts: all of it at first, a part of it later, nothing once there is power', () => {
    expect(weightsOf(stateWith(), 'ann', 'ben').map((place) => place?.weight)).toEqual([BOOT / 2n, BOOT / 2n])
    const some = stateWith(idle('cyd', { drilled: BOOT }))
    const [ann, ben, cyd] = weightsOf(some, 'ann', 'ben', 'cyd')
    expect([ann?.weight, ben?.weight, cyd?.weight]).toEqual([3n * 10n ** 8n, 3n * 10n ** 8n, 4n * 10n ** 8n])
    expect([ann?.isBoot, ben?.isBoot, cyd?.isBoot]).toEqual([true, true, false])
    expect(eligibleIn(some.view, 0n).total).toBe(BOOT)
    const enough = stateWith(idle('cyd', { drilled: (5n * BOOT) / 2n }))
    expect(weightsOf(enough, 'ann', 'ben')).toEqual([null, null])
    expect(weightsOf(enough, 'cyd')[0]?.weight).toBe(BOOT)
  })

  test('comes back if power leaves, and is not kept away by weight that cannot make blocks', () => {
    const { view, params } = stateWith(idle('cyd', { drilled: 4n * BOOT }))
    expect(takeSnapshot(view, 0n, params).boot).toBe(0n)
    view.accounts.drilled.set(2, BOOT)
    expect(takeSnapshot(view, 0n, params).boot).toBe(3n * 10n ** 8n)
    const keyless = stateWith(idle('cyd', { drilled: 4n * BOOT, vrfKey: world.NO_BYTES(32) }))
    expect(keyless.view.snapshots.get(0).boot).toBe(BOOT / 2n)
  })

  test('is not for the jailed, and votes only with a bond', () => {
    const { view, params } = stateWith()
    expect(votersOf(stateWith(), 0n)!.voters.map(({ key, weight }) => [key, weight])).toEqual([
      [world.keyNamed('ann'), BOOT],
    ])
    view.accounts.jailedUntil.set(0, 9n)
    const snapshot = takeSnapshot(view, 0n, params)
    expect(snapshot.weight.getAll()).toEqual([0n, BOOT])
    expect(snapshot.votes.getAll()).toEqual([0n, 0n])
  })

  test('attack 199: is missing among votes for as long as power has no bond: no set is without a voter', () => {
    const unbonded = stateWith(idle('cyd', { drilled: 5n * BOOT, bond: 0n }))
    expect(weightsOf(unbonded, 'ann', 'ben')).toEqual([null, null])
    const voters = (state: typeof unbonded) => votersOf(state, 0n)!.voters.map(({ key, weight }) => [key, weight])
    expect(voters(unbonded)).toEqual([[world.keyNamed('ann'), BOOT]])
    const bonded = stateWith(idle('cyd', { drilled: 5n * BOOT }))
    expect(voters(bonded)).toEqual([[world.keyNamed('cyd'), 2n * BOOT]])
  })
})

describe('a VRF key', () => {
  test('is in use eight epochs after it was set; the one before it is out once its snapshots are used up', () => {
    const names = ['ada', 'bob', 'cyd']
    let state = genesisState(world.genesisOf(names.map((name) => world.accountNamed(name))))
    const [ada, key] = [world.keyNamed('ada'), world.keyNamed('another vrf')]
    const payload = VrfKeyType.serialize({ key, proof: world.proofOf(key, possessionAlpha(ada)) })
    state = world.advance(state, [world.txOf(state, ada, 1, payload)])
    const used: (Uint8Array | undefined)[] = []
    for (let epoch = 0n; epoch <= 9n; epoch++) {
      state = world.advanceTo(state, epoch)
      used.push(lotteryPlace(state.view, epoch, 0)?.vrfKey)
    }
    const [old, none] = [world.keyNamed('ada vrf'), undefined]
    expect(used).toEqual([old, old, old, none, none, none, none, none, key, key])
  })
})

describe('a set of voters', () => {
  test('has the heaviest with all their weight and the rest by drawn seats, and its commits name them in this order', () => {
    const names = ['ada', 'bob', 'cyd', 'dan', 'eve', 'fay']
    const accounts = names.map((name, i) => world.accountNamed(name, { drilled: 10n ** 9n * BigInt(i + 1) }))
    const params = { ...world.genesisOf(accounts).params, exactVoters: 2n, seats: 16n }
    let state = genesisState(world.genesisOf(accounts, { params }))
    const { voters, total } = votersOf(state, 0n)!
    expect(voters.slice(0, 2).map(({ key }) => key)).toEqual([world.keyNamed('fay'), world.keyNamed('eve')])
    expect(voters.slice(0, 2).map(({ weight }) => weight)).toEqual([24n * 10n ** 8n, 2n * 10n ** 9n])
    const seat = (4n * 10n ** 9n) / 16n
    expect(voters.slice(2).every(({ weight }) => weight > 0n && weight % seat === 0n)).toBe(true)
    expect(total).toBe(84n * 10n ** 8n)
    for (let i = 0; i < 3; i++) state = world.advance(state)
    const whole = world.commitOf(state, state.head, state.view.slot)
    expect(whole.voters.bitLen).toBe(voters.length)
    expect(world.advance(state, [], undefined, [whole]).view.final.hash).toEqual(state.head)
    // The two heaviest are 52 %: without the seats they decide nothing.
    const heaviest = whole.voters.clone()
    for (let i = 2; i < heaviest.bitLen; i++) heaviest.set(i, false)
    const made = world.make(state, [], undefined, [{ ...whole, voters: heaviest, sigs: whole.sigs.slice(0, 2) }])
    expect('problem' in made && made.problem.code).toBe('COMMIT_QUORUM')
  })
})
