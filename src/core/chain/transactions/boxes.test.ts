import fc from 'fast-check'
import { expect, test } from 'vitest'
import * as world from '../../../../test/support/chainWorld.ts'
import { findAccount, located } from '../chainState.ts'
import { genesisState, stateRoot } from '../genesisState.ts'
import { checkLightProof, columnGindex, numberInLeaf } from '../lightProof.ts'
import { proveEntry } from '../proveEntry.ts'
import { meanOf } from './boxes.ts'
import { PublishType } from './payloads.ts'

const score = fc.bigInt({ min: 0n, max: 2n ** 40n })

test('attack 312: what a validator says of a box moves towards what it saw, a quarter of the way, from 0 too, and gets there', () => {
  expect(meanOf(0n, 4_000n)).toBe(1_000n)
  fc.assert(
    fc.property(score, score, (before, seen) => {
      const next = meanOf(before, seen)
      const [low, high] = before < seen ? [before, seen] : [seen, before]
      expect(next >= low && next <= high).toBe(true)
      let at = before
      for (let reports = 0; reports < 110; reports++) at = meanOf(at, seen)
      expect(at).toBe(seen)
    }),
  )
})

test('rounds that an account publishes only go up, each has one root for ever, and the last one has a light proof', () => {
  const [ada, bob] = [world.keyNamed('ada'), world.keyNamed('bob')]
  let state = genesisState(world.genesisOf([world.accountNamed('ada'), world.accountNamed('bob')]))
  const txOf = (key: Uint8Array, round: bigint, root: Uint8Array) =>
    world.txOf(state, key, 25, PublishType.serialize({ round, root }))
  const root = world.keyNamed('root of round 7')
  state = world.advance(state, [txOf(ada, 7n, root)])
  for (const [round, other] of [
    [7n, root],
    [7n, bob],
    [6n, root],
    [0n, root],
  ] as const)
    expect(world.make(state, [txOf(ada, round, other)])).toMatchObject({ problem: { code: 'TWICE' } })
  state = world.advance(state, [txOf(bob, 7n, bob), txOf(ada, 9n, root)])
  const place = findAccount(located(state), ada)
  const number = proveEntry(state, ['accounts', 'round', place])
  expect(number.gindex).toBe(columnGindex('round', place))
  expect(numberInLeaf(number.leaf, place, 8)).toBe(9n)
  const rootProof = proveEntry(state, ['accounts', 'roundRoot', place])
  expect(rootProof.gindex).toBe(columnGindex('roundRoot', place))
  expect(rootProof.leaf).toEqual(root)
  for (const proof of [number, rootProof]) expect(checkLightProof(stateRoot(state), proof)).toBe(true)
})
