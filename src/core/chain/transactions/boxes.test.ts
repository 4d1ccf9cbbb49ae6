import fc from 'fast-check'
import { expect, test } from 'vitest'
import * as world from '../../../../test/support/chainWorld.ts'
import { etaOf, findAccount, findBox, located } from '../chainState.ts'
import { genesisState, stateRoot } from '../genesisState.ts'
import { checkLightProof, columnGindex, numberInLeaf } from '../lightProof.ts'
import { proveEntry } from '../proveEntry.ts'
import { nonceOf } from '../purse.ts'
import { compareBytes } from '../snapshots.ts'
import { boxAddMessage, boxAlpha, isBoxDrawn, meanOf, reportCommitment, runMessage } from './boxes.ts'
import { BoxAddType, BoxRemoveType, EntryType, PublishType, ReportType, RevealType } from './payloads.ts'

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

test('attack 323: who removes a box that was drawn takes its entry out of a report, and voids nothing', () => {
  const judge = world.accountNamed('judge', { stake: world.tokens(10_000) })
  const [owner, buyer] = [world.accountNamed('owner'), world.accountNamed('buyer')]
  let state = genesisState(world.genesisOf([judge, owner, buyer]))
  const alpha = boxAlpha(etaOf(state.view, 0n))
  const beta = world.betaOf(judge.vrfKey, alpha)
  const names = Array.from({ length: 60 }, (_, i) => world.keyNamed(`box ${i}`)).filter((box) => isBoxDrawn(beta, box))
  const [stays, gone, unseen, sold, unknown] = names as [Uint8Array, Uint8Array, Uint8Array, Uint8Array, Uint8Array]
  const act = (key: Uint8Array, moves: readonly (readonly [number, Uint8Array])[]) => {
    const first = nonceOf(state.view.accounts, findAccount(located(state), key))
    const txs = moves.map(([kind, payload], i) => world.txOf(state, key, kind, payload, { nonce: first + BigInt(i) }))
    state = world.advance(state, txs)
  }
  const added = (box: Uint8Array, account: Uint8Array) => {
    const boxSig = world.signAs(box, boxAddMessage(state.genesisHash, box, account))
    return [4, BoxAddType.serialize({ box, boxSig })] as const
  }
  const removed = (box: Uint8Array) => [5, BoxRemoveType.serialize({ box })] as const
  const blank = (box: Uint8Array) => ({ ...EntryType.defaultValue(), box })
  const seen = (box: Uint8Array, signer = box) => ({
    ...{ ...blank(box), score: 40n, capacity: 5n },
    boxSig: world.signAs(signer, runMessage(state.genesisHash, 0n, judge.key, world.NO_BYTES(32))),
  })
  const entries = [seen(stays), seen(gone), blank(unseen), seen(sold), blank(unknown)]
  const report = {
    ...{ epoch: 0n, salt: world.NO_BYTES(32), vrfProof: world.proofOf(judge.vrfKey, alpha) },
    entries: entries.sort((a, b) => compareBytes(a.box, b.box)),
  }
  const boxOf = (box: Uint8Array) =>
    state.view.boxes.getReadonly(findBox({ state: state.view, boxPlaces: state.boxPlaces }, box))
  const words = (box: Uint8Array) => boxOf(box).reports.getAllReadonlyValues()

  act(
    owner.key,
    [stays, gone, unseen, sold].map((box) => added(box, owner.key)),
  )
  const commitment = reportCommitment(judge.key, report)
  act(judge.key, [[6, ReportType.serialize({ epoch: 0n, commitment })]])
  act(owner.key, [gone, unseen, sold].map(removed))
  act(buyer.key, [added(sold, buyer.key)])
  state = world.advanceTo(state, 1n)
  act(judge.key, [[7, RevealType.serialize(report)]])
  expect(state.view.reports.getAllReadonlyValues()).toMatchObject([{ revealed: 1 }])
  expect([words(stays), words(sold)]).toMatchObject([[{ score: 10n }], [{ score: 10n }]])
  expect([words(gone), words(unseen), boxOf(gone).account]).toEqual([[], [], 0])
})
