import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import * as world from '../../../../test/support/chainWorld.ts'
import { type ChainState, etaOf } from '../chainState.ts'
import { genesisState } from '../genesisState.ts'
import { partOf } from '../ledger.ts'
import { BoxReportType, BoxType, ReportCommitType } from '../stateType.ts'
import { boxAddMessage, boxAlpha, isBoxDrawn, reportCommitment, runMessage } from '../transactions/boxes.ts'
import * as payloads from '../transactions/payloads.ts'
import { faded, settleScores, stakeMedian } from './settleScores.ts'

const opinion = fc.record({ value: fc.bigInt({ min: 0n, max: 20n }), stake: fc.bigInt({ min: 1n, max: 9n }) })

describe('a score', () => {
  test('property: is the smallest value with half of all stake at or below it, silence being 0', () => {
    fc.assert(
      fc.property(fc.array(opinion, { maxLength: 8 }), fc.bigInt({ min: 1n, max: 30n }), (opinions, silent) => {
        const all = opinions.reduce((sum, { stake }) => sum + stake, silent)
        const below = (x: bigint) => opinions.reduce((sum, o) => (o.value <= x ? sum + o.stake : sum), silent)
        const expected = Array.from({ length: 21 }, (_, x) => BigInt(x)).find((x) => 2n * below(x) >= all)
        expect(stakeMedian(opinions, all)).toBe(expected)
      }),
    )
  })

  test('counts in full for 12 epochs and is gone after 36', () => {
    expect([0n, 12n, 13n, 24n, 35n, 36n, 99n].map((age) => faded(2_400n, age))).toEqual([
      2_400n,
      2_400n,
      2_300n,
      1_200n,
      100n,
      0n,
      0n,
    ])
  })
})

describe('what scores earn', () => {
  const [OWNER, RIVAL, FIRST, SECOND] = [0, 1, 2, 3]
  const stakes = [0, 0, 10_000, 30_000]
  const accounts = stakes.map((stake, i) => world.accountNamed(`account ${i}`, { stake: world.tokens(stake) }))
  const { view: state, params } = genesisState(world.genesisOf(accounts))
  const word = (validator: number, score: bigint) => ({
    ...{ ...BoxReportType.defaultValue(), validator, score, capacity: 7n },
  })
  const box = (account: number, ...scores: [number, bigint][]) =>
    BoxType.toViewDU({ ...BoxType.defaultValue(), account: account + 1, reports: scores.map(([v, s]) => word(v, s)) })
  for (const each of [
    box(OWNER, [FIRST, 99n], [SECOND, 30n]),
    box(OWNER, [FIRST, 99n]),
    box(RIVAL, [FIRST, 1n], [SECOND, 10n]),
  ])
    state.boxes.push(each)
  for (const [validator, revealed] of [
    [FIRST, 1],
    [SECOND, 0],
  ] as const)
    state.reports.push(ReportCommitType.toViewDU({ ...ReportCommitType.defaultValue(), validator, revealed }))
  state.epoch = 1n
  const before = state.supply
  settleScores({ state, accounts: state.accounts, params })
  const earned = stakes.map((_, place) => state.accounts.locked.get(place))

  test('goes by the median of stake: one quarter of it cannot raise a score', () => {
    const scorePart = partOf('scoreShare', 1n, params)
    expect(state.boxes.getAllReadonly().map(({ score }) => score)).toEqual([30n, 0n, 10n])
    expect([earned[OWNER], earned[RIVAL]]).toEqual([(scorePart * 3n) / 4n, scorePart / 4n])
    expect(state.accounts.capacity.getAll()).toEqual([7n, 7n, 0n, 0n])
  })

  test('of the validator part each that revealed gets its share of stake, and the rest is not issued', () => {
    const validatorPart = partOf('validatorShare', 1n, params)
    expect([earned[FIRST], earned[SECOND]]).toEqual([validatorPart / 4n, 0n])
    expect(state.supply - before).toBe(partOf('scoreShare', 1n, params) + validatorPart / 4n)
    expect(state.reports.length).toBe(0)
  })
})

describe('a report', () => {
  const judge = world.accountNamed('judge', { stake: world.tokens(10_000) })
  const owner = world.accountNamed('owner')
  const boxes = ['box 0', 'box 1', 'box 2', 'box 3', 'box 4', 'box 5'].map(world.keyNamed)
  let state: ChainState = genesisState(world.genesisOf([judge, owner]))
  const add = (box: Uint8Array, nonce: bigint, signer = box) => {
    const boxSig = world.signAs(signer, boxAddMessage(state.genesisHash, box, owner.key))
    return world.txOf(state, owner.key, 4, payloads.BoxAddType.serialize({ box, boxSig }), { nonce })
  }
  const code = (kind: number, payload: Uint8Array, key = judge.key) => {
    const made = world.make(state, [world.txOf(state, key, kind, payload)])
    return 'problem' in made ? made.problem.code : null
  }

  test('needs a validator, its time, boxes that were drawn, their signatures and what was committed to', () => {
    expect(code(4, add(boxes[0]!, 0n, boxes[1]!).payload, owner.key)).toBe('SIGNATURE')
    state = world.advance(
      state,
      boxes.map((box, i) => add(box, BigInt(i))),
    )
    expect(code(4, add(boxes[0]!, 6n).payload, owner.key)).toBe('BOX')
    expect(code(5, payloads.BoxRemoveType.serialize({ box: boxes[0]! }))).toBe('BOX')
    const alpha = boxAlpha(etaOf(state.view, 0n))
    const isDrawn = (box: Uint8Array) => isBoxDrawn(world.betaOf(judge.vrfKey, alpha), box)
    const entryOf = (box: Uint8Array, signer = box, chain = state.genesisHash) => ({
      ...{ ...payloads.EntryType.defaultValue(), box, score: 10n, capacity: 5n },
      boxSig: world.signAs(signer, runMessage(chain, 0n, judge.key, world.NO_BYTES(32))),
    })
    const drawn = boxes.filter(isDrawn)
    const other = boxes.find((box) => !isDrawn(box))!
    expect(drawn.length).toBeGreaterThan(0)
    const good = {
      epoch: 0n,
      salt: world.NO_BYTES(32),
      vrfProof: world.proofOf(judge.vrfKey, alpha),
      entries: [entryOf(drawn[0]!)],
    }
    const commitTo = (reveal: typeof good) =>
      payloads.ReportType.serialize({ epoch: 0n, commitment: reportCommitment(judge.key, reveal) })
    expect(code(6, commitTo(good), owner.key)).toBe('VALIDATOR')
    expect(code(6, payloads.ReportType.serialize({ epoch: 1n, commitment: world.NO_BYTES(32) }))).toBe('EPOCH')
    expect(code(7, payloads.RevealType.serialize(good))).toBe('EPOCH')
    const before = state
    const late = world.advance(state, [], 8n)
    const tooLate = world.make(late, [world.txOf(late, judge.key, 6, commitTo(good))], 9n)
    expect('problem' in tooLate && tooLate.problem.code).toBe('TOO_LATE')
    const revealed = (committed: typeof good, reveal = committed) => {
      state = world.advance(before, [world.txOf(before, judge.key, 6, commitTo(committed))])
      expect(code(6, commitTo(committed))).toBe('TWICE')
      state = world.advanceTo(state, 1n)
      return code(7, payloads.RevealType.serialize(reveal))
    }
    expect(revealed(good)).toBeNull()
    expect(revealed(good, { ...good, salt: boxes[0]! })).toBe('COMMITMENT')
    expect(revealed({ ...good, vrfProof: world.NO_BYTES(80) })).toBe('PROOF')
    expect(revealed({ ...good, entries: [entryOf(other)] })).toBe('DRAW')
    expect(revealed({ ...good, entries: [entryOf(drawn[0]!, other)] })).toBe('SIGNATURE')
    // Attack 333: what a box signed on another chain says nothing here.
    expect(revealed({ ...good, entries: [entryOf(drawn[0]!, drawn[0]!, world.keyNamed('other chain'))] })).toBe(
      'SIGNATURE',
    )
    const unknown = Array.from({ length: 60 }, (_, i) => world.keyNamed(`no box ${i}`)).find(isDrawn)!
    expect(revealed({ ...good, entries: [entryOf(unknown)] })).toBeNull()
    expect(revealed({ ...good, entries: [entryOf(unknown, other)] })).toBe('SIGNATURE')
    expect(revealed({ ...good, entries: [entryOf(drawn[0]!), entryOf(drawn[0]!)] })).toBe('TWICE')
    expect(revealed({ ...good, entries: [{ ...entryOf(drawn[0]!), score: 0n }] })).toBe('AMOUNT')
  })
})
