import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import * as world from '../../../../test/support/chainWorld.ts'
import { isKnownTask } from '../../work/drilled/productTask.ts'
import { makeBlock } from '../applyBlock.ts'
import { type ChainState, findAccount, located } from '../chainState.ts'
import { genesisState } from '../genesisState.ts'
import { CHAIN_PRESETS } from '../params.ts'
import { problem } from '../problems.ts'
import { balanceOf, nonceOf } from '../purse.ts'
import { headerMessage, voteMessage } from '../signing.ts'
import type { Header, Tx, Vote } from '../ssz.ts'
import { checkTx } from './checkTx.ts'
import { EvidenceType } from './evidence.ts'
import { possessionAlpha } from './money.ts'
import { LockType, ProjectVotePayloadType, ProposalType, TasksType, TransferType, VrfKeyType } from './payloads.ts'

const names = ['ada', 'bob', 'cyd', 'dan']
const [ada, bob, cyd, dan] = names.map(world.keyNamed) as [Uint8Array, Uint8Array, Uint8Array, Uint8Array]
const genesis = world.genesisOf(names.map((name) => world.accountNamed(name)))
const start = world.advance(genesisState(genesis))
const place = (state: ChainState, key: Uint8Array) => findAccount(located(state), key)
const transferTo = (to: Uint8Array, amount: bigint) => TransferType.serialize({ to, amount })
/** Why a block with these transactions is refused. */
const refusal = (state: ChainState, ...txs: Tx[]) => {
  const made = world.make(state, txs)
  return 'problem' in made ? made.problem : null
}
const at = (where: string) => `body.txs[0].${where}`
const blockOf = (state: ChainState, txs: Tx[] = []) => {
  const made = world.make(state, txs)
  if ('problem' in made) throw new Error(made.problem.code)
  return made.block
}

const proposal = ProposalType.serialize({ ...ProposalType.defaultValue(), work: 5n, depth: 4 })
const projectBond = LockType.serialize({ purpose: 3, amount: world.tokens(10_000) })
const bonded = world.advance(start, [world.txOf(start, ada, 2, projectBond)])
/** Nobody voted on the project, and evidence of before is too old. */
const aWeekOn = world.advanceTo(world.advance(bonded, [world.txOf(bonded, ada, 8, proposal)]), 170n)

describe('attack 25: altered, replayed and overspending transactions', () => {
  const good = world.txOf(start, ada, 0, transferTo(bob, 5n))

  test('a transaction counts once, in its order, in its time, on its chain', () => {
    expect(refusal(start, good)).toBeNull()
    expect(refusal(start, good, good)).toEqual(problem('NONCE', 'body.txs[1].nonce'))
    expect(refusal(start, { ...good, nonce: 1n })?.code).toBe('NONCE')
    for (const lastSlot of [start.view.slot, start.view.slot + 12n])
      expect(refusal(start, world.txOf(start, ada, 0, good.payload, { lastSlot }))).toEqual(
        problem('EXPIRED', at('lastSlot')),
      )
    const elsewhere = genesisState({ ...genesis, timeMs: 1n })
    expect(refusal(elsewhere, good)).toEqual(problem('SIGNATURE', at('sig')))
  })

  test('property: one changed field, and the signature does not fit', () => {
    const change = fc.constantFrom<Partial<Tx>>(
      { payload: transferTo(bob, 6n) },
      { payload: transferTo(cyd, 5n) },
      { fee: good.fee + 1n },
      { lastSlot: good.lastSlot + 1n },
      { account: bob },
      { kind: 2 },
      { sig: world.NO_BYTES(64) },
    )
    fc.assert(
      fc.property(change, (changed) => {
        expect(refusal(start, { ...good, ...changed })?.code).toBe('SIGNATURE')
      }),
    )
    const paid = { fee: 2n * good.fee, payer: [bob] }
    for (const payerSig of [[], [world.NO_BYTES(64)], [world.NO_BYTES(64), world.NO_BYTES(64)]])
      expect(refusal(start, world.txOf(start, ada, 0, good.payload, { ...paid, payerSig }))).toEqual(
        problem('SIGNATURE', at('payerSig')),
      )
  })

  test('nobody spends what it has not, and amounts do not overflow', () => {
    const balance = balanceOf(start.view.accounts, place(start, ada))
    const spend = (amount: bigint) => refusal(start, world.txOf(start, ada, 0, transferTo(bob, amount)))
    expect(spend(balance - good.fee)).toBeNull()
    for (const amount of [balance - good.fee + 1n, balance, 2n ** 64n - 1n])
      expect(spend(amount)).toEqual(problem('BALANCE', at('payload.amount')))
    expect(spend(0n)).toEqual(problem('AMOUNT', at('payload.amount')))
    for (const fee of [2n ** 64n, -1n]) expect(refusal(start, { ...good, fee })?.code).toBe('MALFORMED')
    expect(refusal(start, world.txOf(start, ada, 0, good.payload, { fee: good.fee - 1n }))?.code).toBe('FEE')
    expect(refusal(start, world.txOf(start, ada, 0, good.payload, { fee: balance + 1n }))).toEqual(
      problem('BALANCE', at('fee')),
    )
  })

  test('unknown, reserved and malformed ones have their codes', () => {
    const codeOf = (kind: number, payload = world.NO_BYTES(40)) =>
      refusal(start, world.txOf(start, ada, kind, payload))?.code
    for (let kind = 16; kind <= 23; kind++) expect(codeOf(kind)).toBe('RESERVED')
    for (const kind of [26, 100, 255]) expect(codeOf(kind)).toBe('UNKNOWN_KIND')
    for (const kind of [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 24, 25])
      expect(codeOf(kind, world.NO_BYTES(3))).toBe('MALFORMED')
    expect(codeOf(0, world.NO_BYTES(131_072))).toBe('SIZE')
  })

  test('a newcomer needs somebody who pays, and a key that every library judges alike', () => {
    const newcomer = world.keyNamed('new')
    const vrfKey = world.keyNamed('new vrf')
    const payload = VrfKeyType.serialize({ key: vrfKey, proof: world.proofOf(vrfKey, possessionAlpha(newcomer)) })
    expect(refusal(start, world.txOf(start, newcomer, 1, payload))).toEqual(problem('ACCOUNT', at('account')))
    const state = world.advance(start, [world.txOf(start, newcomer, 1, payload, { payer: [bob] })])
    expect(state.view.accounts.vrfFrom.get(place(state, newcomer))).toBe(8n)
    expect(refusal(start, world.txOf(start, newcomer, 1, payload, { payer: [world.keyNamed('none')] }))?.code).toBe(
      'ACCOUNT',
    )
    expect(refusal(start, world.txOf(start, ada, 1, payload, { payer: [ada] }))).toEqual(
      problem('ACCOUNT', at('payer')),
    )
    expect(refusal(start, world.txOf(start, world.NO_BYTES(32).fill(0xff), 1, payload, { payer: [bob] }))).toEqual(
      problem('KEY', at('account')),
    )
    expect(refusal(start, world.txOf(start, ada, 1, payload))).toEqual(problem('POSSESSION', at('payload.proof')))
    const same = VrfKeyType.serialize({ key: world.keyNamed('ada vrf'), proof: world.NO_BYTES(80) })
    expect(refusal(start, world.txOf(start, ada, 1, same))).toEqual(problem('KEY', at('payload.key')))
  })
})

describe('bonds', () => {
  const lock = (state: ChainState, kind: number, purpose: number, amount: bigint, more: Partial<Tx> = {}) =>
    world.txOf(state, ada, kind, LockType.serialize({ purpose, amount }), more)

  test('mature a week of final epochs after they are asked back, and not in a stall', () => {
    const params = { ...CHAIN_PRESETS.tiny, unlockEpochs: 2n }
    let state = genesisState({ ...genesis, params })
    state = world.advance(state, [lock(state, 2, 1, 50n)])
    state = world.advance(state, [lock(state, 3, 1, 20n)])
    expect(refusal(state, lock(state, 3, 1, 31n))).toEqual(problem('BALANCE', at('payload.amount')))
    expect(refusal(state, lock(state, 3, 4, 1n))).toEqual(problem('PURPOSE', at('payload.purpose')))
    const stalled = world.advanceTo(state, 6n)
    expect(stalled.view.unlocks.length).toBe(1)
    let moving = state
    while (moving.view.unlocks.length === 1) moving = world.advance(moving, [], undefined, [world.commitOfHead(moving)])
    expect(moving.view.epoch).toBe(3n)
    expect(moving.view.accounts.stake.get(place(moving, ada))).toBe(30n)
    expect(moving.view.accounts.unlocking.get(place(moving, ada))).toBe(0)
    expect(world.unitsOf(moving)).toBe(moving.view.supply)
  })

  test('an account has at most 16 unlocks under way', () => {
    let state = world.advance(start, [lock(start, 2, 2, 100n)])
    const nonce = nonceOf(state.view.accounts, place(state, ada))
    const many = Array.from({ length: 17 }, (_, i) => lock(state, 3, 2, 1n, { nonce: nonce + BigInt(i) }))
    expect(refusal(state, ...many)).toEqual(problem('FULL', 'body.txs[16].payload'))
    state = world.advance(state, many.slice(0, 16))
    expect(state.view.unlocks.length).toBe(16)
    expect(state.view.accounts.unlocking.get(place(state, ada))).toBe(16)
  })
})

describe('attack 24: equivocation', () => {
  const twoHeaders = (state: ChainState): [Header, Header] => {
    const one = blockOf(state).header
    const unsigned = { ...one, bodyRoot: world.NO_BYTES(32).fill(9) }
    return [one, { ...unsigned, sig: world.signAs(one.author, headerMessage(state.genesisHash, unsigned)) }]
  }
  const voteOf = (state: ChainState, more: Partial<Vote>): Vote => {
    const unsigned = {
      kind: 0,
      set: 0n,
      round: 2n,
      target: ada,
      targetSlot: 3n,
      lockRound: 0n,
      late: 0,
      voter: bob,
      ...more,
    }
    return { ...unsigned, sig: world.signAs(unsigned.voter, voteMessage(state.genesisHash, unsigned)) }
  }
  const evidence = (state: ChainState, offence: number, headers: Header[], votes: Vote[]) =>
    world.txOf(state, dan, 24, EvidenceType.serialize({ offence, headers, votes }))

  test('two blocks in a slot cost 5 % at once, more a day later, all power, and a week', () => {
    const headers = twoHeaders(start)
    const liar = place(start, headers[0].author)
    const held = start.view.accounts.bond.get(liar) + start.view.accounts.locked.get(liar)
    const before = balanceOf(start.view.accounts, place(start, dan))
    const state = world.advance(start, [evidence(start, 0, headers, [])], 3n)
    const { accounts } = state.view
    expect(accounts.drilled.get(liar)).toBe(0n)
    expect(accounts.settled.get(liar)).toBe(0n)
    expect(accounts.jailedUntil.get(liar)).toBe(168n)
    expect(state.view.slashes.getReadonly(0).base).toBe(held)
    expect(refusal(state, evidence(state, 0, headers, []))).toEqual(problem('PUNISHED', at('payload')))
    // A quarter of all weight is proven: three quarters of what answers for it, less what was taken at once.
    const bond = accounts.bond.get(liar)
    const later = world.advanceTo(state, 25n)
    const taken = (held * 75n) / 100n - (held * 5n) / 100n
    expect(bond - later.view.accounts.bond.get(liar)).toBe(taken)
    expect(later.view.slashes.length).toBe(0)
    expect(balanceOf(later.view.accounts, place(later, dan))).toBeGreaterThan(before)
    expect(world.unitsOf(later)).toBe(later.view.supply)
  })

  test('two votes of a round and a broken lock count the same; what is neither is refused', () => {
    const cases: [number, Partial<Vote>, Partial<Vote>, string | null][] = [
      [1, {}, { target: cyd }, null],
      [1, {}, {}, 'EVIDENCE'],
      [1, {}, { target: cyd, round: 3n }, 'EVIDENCE'],
      [1, {}, { target: cyd, set: 1n }, 'EVIDENCE'],
      [1, {}, { target: cyd, voter: cyd }, 'EVIDENCE'],
      [2, { kind: 1, lockRound: 2n }, { round: 3n, lockRound: 1n }, null],
      [2, { kind: 1, lockRound: 2n }, { round: 3n, lockRound: 2n }, 'EVIDENCE'],
      [2, { kind: 1, lockRound: 2n }, { round: 2n, lockRound: 1n }, 'EVIDENCE'],
      [1, { voter: world.keyNamed('none') }, { target: cyd, voter: world.keyNamed('none') }, 'ACCOUNT'],
      [1, { round: 50n }, { round: 50n, target: cyd }, 'EVIDENCE'],
      [3, {}, { target: cyd }, 'EVIDENCE'],
    ]
    for (const [offence, a, b, code] of cases) {
      const votes = [voteOf(start, a), voteOf(start, b)]
      expect(refusal(start, evidence(start, offence, [], votes))?.code ?? null).toBe(code)
    }
    const forged = { ...voteOf(start, { target: cyd }), sig: world.NO_BYTES(64) }
    expect(refusal(start, evidence(start, 1, [], [voteOf(start, {}), forged]))?.code).toBe('EVIDENCE')
    const late = aWeekOn
    expect(refusal(late, evidence(late, 0, twoHeaders(start), []))?.code).toBe('OLD')
  })

  test('who is jailed makes no block', () => {
    const headers = twoHeaders(start)
    const state = world.advance(start, [evidence(start, 0, headers, [])], 3n)
    const { author, kind, vrfProof, slot } = headers[0]
    const draft = { slot: slot + 2n, author, kind, vrfProof, body: { txs: [], commit: [] } }
    const made = makeBlock(state, draft, (message) => world.signAs(author, message), world.standIns)
    expect(made).toEqual({ problem: problem('JAILED', 'header.author') })
  })
})

describe('projects', () => {
  const vote = (state: ChainState, key: Uint8Array, project: number, utility: number) =>
    world.txOf(state, key, 9, ProjectVotePayloadType.serialize({ project, utility }))

  test('attack 195: whose works nobody could do or check are refused before anybody votes, and nothing changes', () => {
    const checks = { ...world.standIns, terms: isKnownTask }
    const refusedFor = (more: Partial<ReturnType<typeof ProposalType.defaultValue>>) => {
      const payload = ProposalType.serialize({ ...ProposalType.defaultValue(), work: 310n, depth: 4, ...more })
      return checkTx(bonded, world.txOf(bonded, ada, 8, payload), bonded.view.slot + 1n, checks)
    }
    expect(refusedFor({})).toBeNull()
    for (const more of [{ kind: 1 }, { work: 1n << 40n }, { depth: 21 }, { depth: 0 }, { records: 9n }, { graph: ada }])
      expect(refusedFor(more)).toEqual(problem('PROJECT', 'payload'))
    for (const more of [{ kind: 8 }, { work: 0n }, { depth: 31 }]) expect(refusedFor(more)?.code).toBe('PROJECT')
    expect(bonded.view.projects.length).toBe(1)
  })

  test('go live with more than half of all weight, move with more than two thirds, and need their bond', () => {
    expect(refusal(start, world.txOf(start, ada, 8, proposal))).toEqual(problem('BALANCE', at('account')))
    let state = world.advance(bonded, [world.txOf(bonded, ada, 8, proposal)])
    const free = LockType.serialize({ purpose: 3, amount: 1n })
    expect(refusal(state, world.txOf(state, ada, 3, free))).toEqual(problem('PROJECT', at('payload.amount')))
    const order = TasksType.serialize({ project: 1, count: 7 })
    expect(refusal(state, world.txOf(state, bob, 10, order))).toEqual(problem('PROJECT', at('payload.project')))
    state = world.advance(state, [vote(state, ada, 1, 2), vote(state, bob, 1, 4)])
    const half = world.advanceTo(state, 2n)
    expect(half.view.projects.getReadonly(1).status).toBe(0)
    state = world.advanceTo(world.advance(half, [vote(half, cyd, 1, 1)]), 3n)
    expect(state.view.projects.getReadonly(1).status).toBe(1)
    const { supply } = state.view
    const queued = world.advance(state, [world.txOf(state, bob, 10, order)])
    expect(queued.view.projects.getReadonly(1).queued).toBe(7n)
    expect(queued.view.supply).toBeLessThan(supply + world.tokens(1_000))
    const votes = (utility: number) => [ada, bob, cyd].map((key) => vote(state, key, 1, utility))
    const moved = world.advanceTo(world.advance(state, votes(4)), 4n)
    expect(moved.view.projects.getReadonly(1).utility).toBe(4)
    expect(refusal(state, vote(state, ada, 1, 3))).toEqual(problem('UTILITY', at('payload.utility')))
    expect(refusal(state, vote(state, ada, 2, 2))).toEqual(problem('PROJECT', at('payload.project')))
    expect(world.unitsOf(moved)).toBe(moved.view.supply)
  })

  test('are refused after a week without it', () => {
    const state = aWeekOn
    expect(state.view.projects.getReadonly(1).status).toBe(2)
    const free = LockType.serialize({ purpose: 3, amount: 1n })
    expect(refusal(state, world.txOf(state, ada, 3, free))).toBeNull()
  })
})
