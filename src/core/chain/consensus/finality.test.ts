import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { PRECOMMIT, PREVOTE, quorumOf } from '../recordCommit.ts'
import { type ChainBlock, childOf, genesisBlock } from './chainBlock.ts'
import { type Action, ConsensusNode, type FinalityRules, whenDue } from './consensusNode.ts'
import { type EpochView, epochView } from './epochView.ts'
import { type Quorum, type Vote, voteOffence } from './vote.ts'
import { isEnough, VoteBook } from './voteBook.ts'

const RULES: FinalityRules = { epochSlots: 10, roundSlots: 2, lag: 1, lateEpochs: 168 }
const keys = ['a', 'b', 'c', 'd', 'e', 'f', 'g']
const signature = new Uint8Array(64)
const eta = new Uint8Array(32)

const viewWith = (weights: readonly bigint[]): EpochView =>
  epochView(
    0,
    eta,
    weights.map((weight, i) => ({ key: keys[i]!, vrfKey: eta, weight, vote: weight, isBoot: false })),
    { exact: 256, seats: 768 },
  )
const seven = viewWith(keys.map(() => 1n))

const vote = (voter: string, fields: Partial<Vote> = {}): Vote => ({
  kind: PREVOTE,
  set: 0,
  round: 1,
  target: 'x',
  targetSlot: 1,
  lockRound: 0,
  late: false,
  voter,
  signature,
  ...fields,
})

describe('counting votes', () => {
  test('a quorum is more than two thirds of all weight, or more than half if late: to the unit', () => {
    const weight = fc.bigInt({ min: 1n, max: 2n ** 64n - 1n })
    fc.assert(
      fc.property(fc.array(weight, { minLength: 1, maxLength: 7 }), fc.boolean(), (weights, late) => {
        const { voters } = viewWith(weights)
        const book = new VoteBook(voters)
        const total = weights.reduce((sum, each) => sum + each, 0n)
        let counted = 0n
        let reached = false
        for (const [place, key] of voters.keys.entries()) {
          const { quorum } = book.add(vote(key, { late }))
          counted += voters.weights[place]!
          const decides = late ? 2n * counted > total : 3n * counted > 2n * total
          expect(quorum !== null).toBe(decides && !reached)
          if (quorum !== null) expect(isEnough(quorum, voters)).toBe(true)
          reached ||= decides
        }
        expect(reached).toBe(true)
        expect(quorumOf(total, late)).toBe(late ? voters.lateQuorum : voters.quorum)
      }),
    )
  })

  test('strangers, repetitions and mixtures count for nothing', () => {
    const book = new VoteBook(seven.voters)
    for (let i = 0; i < 9; i++) expect(book.add(vote('a')).quorum).toBeNull()
    expect(book.add(vote('stranger')).quorum).toBeNull()
    for (const key of ['b', 'c', 'd']) expect(book.add(vote(key)).quorum).toBeNull()
    for (const [key, fields] of [
      ['e', { target: 'y' }],
      ['f', { round: 2 }],
      ['g', { kind: PRECOMMIT, lockRound: 1 }],
    ] as const)
      expect(book.add(vote(key, fields)).quorum).toBeNull()
    const quorum = book.add(vote('f')).quorum
    expect(quorum?.votes.map(({ voter }) => voter)).toEqual(['a', 'b', 'c', 'd', 'f'])
    const forged = (votes: Vote[]): Quorum => ({ ...quorum!, votes })
    expect(isEnough(forged(quorum!.votes.slice(1)), seven.voters)).toBe(false)
    expect(isEnough(forged([...quorum!.votes.slice(1), quorum!.votes[1]!]), seven.voters)).toBe(false)
    expect(isEnough(forged([...quorum!.votes.slice(1), vote('e', { target: 'y' })]), seven.voters)).toBe(false)
    expect(isEnough(forged([...quorum!.votes.slice(1), vote('stranger')]), seven.voters)).toBe(false)
  })

  test('attack 350: a precommit that names another lock round is counted for no commit, since no block could record it', () => {
    const book = new VoteBook(seven.voters)
    const precommit = (voter: string, lockRound = 1) => vote(voter, { kind: PRECOMMIT, lockRound })
    for (const key of ['a', 'b', 'c', 'd']) expect(book.add(precommit(key)).quorum).toBeNull()
    expect(book.add(precommit('e', 0)).quorum).toBeNull()
    const quorum = book.add(precommit('f')).quorum!
    expect(quorum.votes.map(({ voter }) => voter)).toEqual(['a', 'b', 'c', 'd', 'f'])
    const [f] = quorum.votes.slice(4)
    expect(isEnough({ ...quorum, votes: [...quorum.votes.slice(1, 4), precommit('e', 0), f!] }, seven.voters)).toBe(
      false,
    )
    expect(isEnough({ ...quorum, votes: [...quorum.votes.slice(1, 4), precommit('e'), f!] }, seven.voters)).toBe(true)
  })

  test('attack 24: who votes twice in a round, or against its lock, is proven by two of its votes', () => {
    const book = new VoteBook(seven.voters)
    expect(book.add(vote('a')).offence).toBeNull()
    const second = vote('a', { target: 'y' })
    expect(book.add(second).offence).toEqual([vote('a'), second])
    expect(book.add(vote('a', { target: 'z' }))).toEqual({ quorum: null, offence: null })
    const precommit = vote('b', { kind: PRECOMMIT, round: 3, lockRound: 3 })
    const broken = vote('b', { round: 5, lockRound: 2 })
    expect(book.add(precommit).offence).toBeNull()
    expect(book.add(vote('b', { round: 4, lockRound: 3 })).offence).toBeNull()
    expect(book.add(broken).offence).toEqual([precommit, broken])
  })

  test('attack 24: a lock is remembered however many rounds were forgotten since', () => {
    const any = fc.record({
      kind: fc.constantFrom(PREVOTE, PRECOMMIT),
      step: fc.nat(3),
      back: fc.nat(4),
      voter: fc.constantFrom('a', 'b'),
    })
    let proven = 0
    fc.assert(
      fc.property(fc.array(any, { maxLength: 40 }), (plan) => {
        const book = new VoteBook(seven.voters)
        const last = new Map<string, Vote>()
        let now = 1
        for (const { kind, step, back, voter } of plan) {
          now += step
          book.prune(now - 2)
          const next = vote(voter, { kind, round: now, lockRound: kind === PRECOMMIT ? now : Math.max(0, now - back) })
          const opposite = last.get(`${voter}${1 - kind}`)
          const isProof = opposite !== undefined && voteOffence(next, opposite) !== null
          const isFirst = last.get(`${voter}${kind}`)?.round !== now
          if (isFirst) last.set(`${voter}${kind}`, next)
          expect(book.add(next).offence).toEqual(isFirst && isProof ? [opposite, next] : null)
          if (isFirst && isProof) proven++
        }
      }),
    )
    expect(proven).toBeGreaterThan(0)
  })

  test('an offence needs one voter and one set, and does not depend on the order', () => {
    const any = fc.record({
      kind: fc.constantFrom(PREVOTE, PRECOMMIT),
      set: fc.nat(1),
      round: fc.nat(3),
      target: fc.constantFrom('x', 'y'),
      lockRound: fc.nat(3),
      voter: fc.constantFrom('a', 'b'),
    })
    fc.assert(
      fc.property(any, any, (left, right) => {
        const [a, b] = [vote(left.voter, left), vote(right.voter, right)]
        expect(voteOffence(a, b)).toBe(voteOffence(b, a))
        expect(voteOffence(a, a)).toBeNull()
        if (a.voter !== b.voter || a.set !== b.set) expect(voteOffence(a, b)).toBeNull()
      }),
    )
  })
})

/** A chain of secondaries, one in every slot. */
function chain(from: ChainBlock, slots: number, name: string): ChainBlock[] {
  const blocks: ChainBlock[] = []
  let tip = from
  for (let slot = from.slot + 1; slot <= from.slot + slots; slot++) {
    tip = childOf(tip, { id: `${name}${slot}`, slot, author: 'a', win: null }, RULES.epochSlots)
    blocks.push(tip)
  }
  return blocks
}

const genesis = genesisBlock('genesis')
const nodeFor = (voter: string | null) => new ConsensusNode({ rules: RULES, genesis, viewOf: () => seven, voter })
const votesIn = (actions: readonly Action[]) => actions.flatMap((each) => (each.kind === 'vote' ? [each.vote] : []))
const quorumOn = (block: ChainBlock, kind: Vote['kind'], round: number, set = 0, late = false): Quorum => {
  const lockRound = kind === PRECOMMIT ? round : 0
  const fields = { kind, set, round, target: block.id, targetSlot: block.slot, late, lockRound }
  return { ...fields, votes: keys.slice(0, 5).map((voter) => vote(voter, fields)) }
}

describe('a node', () => {
  test('prevotes the block of its best chain, precommits on a quorum of its round, and finalises on a second', () => {
    const node = nodeFor('a')
    const blocks = chain(genesis, 9, 'x')
    for (const block of blocks) node.onBlock(block)
    const [prevote] = votesIn(node.onSlot(8))
    expect(prevote).toMatchObject({
      kind: PREVOTE,
      set: 0,
      round: 4,
      target: 'x6',
      lockRound: 0,
      late: false,
      voter: 'a',
    })
    const [precommit] = votesIn(node.onQuorum(quorumOn(blocks[5]!, PREVOTE, 4)))
    expect(precommit).toMatchObject({ kind: PRECOMMIT, round: 4, target: 'x6', lockRound: 4 })
    const [final] = node.onQuorum(quorumOn(blocks[5]!, PRECOMMIT, 4))
    expect(final).toMatchObject({ kind: 'final', block: { id: 'x6' } })
    expect(node.final.id).toBe('x6')
  })

  test('never votes twice in a round, nor in an earlier one', () => {
    const node = nodeFor('a')
    for (const block of chain(genesis, 9, 'x')) node.onBlock(block)
    expect(votesIn(node.onSlot(8))).toHaveLength(1)
    expect(votesIn(node.onSlot(8))).toHaveLength(0)
    expect(votesIn(node.onSlot(6))).toHaveLength(0)
  })

  test('stays with its lock although another branch is better, until a later quorum', () => {
    const node = nodeFor('a')
    const [locked, better] = [chain(genesis, 5, 'x'), chain(genesis, 9, 'y')]
    for (const block of [...locked, ...better]) node.onBlock(block)
    expect(node.head.id).toBe('y9')
    node.onSlot(6)
    node.onQuorum(quorumOn(locked[2]!, PREVOTE, 3))
    expect(node.head.id).toBe('x5')
    expect(votesIn(node.onSlot(8))[0]).toMatchObject({ target: 'x4', lockRound: 3 })
    node.onQuorum(quorumOn(better[3]!, PREVOTE, 4))
    expect(node.head.id).toBe('y9')
  })

  test('finalises no further than the first block of a later epoch, whose set then takes over', () => {
    const node = nodeFor('a')
    const blocks = chain(genesis, 35, 'x')
    for (const block of blocks) node.onBlock(block)
    expect(votesIn(node.onSlot(36))[0]).toMatchObject({ target: 'x10' })
    expect(node.onQuorum(quorumOn(blocks[10]!, PRECOMMIT, 18))).toEqual([])
    node.onQuorum(quorumOn(blocks[9]!, PRECOMMIT, 18))
    expect(node.final.id).toBe('x10')
    expect(node.onVote(vote('b', { round: 18 }))).toEqual([{ kind: 'ahead' }])
    expect(votesIn(node.onSlot(38))[0]).toMatchObject({ set: 1, target: 'x20', lockRound: 0 })
  })

  test('half is a quorum only a week after the last final block, and nobody may say so earlier', () => {
    const node = nodeFor('a')
    const blocks = chain(genesis, 9, 'x')
    for (const block of blocks) node.onBlock(block)
    node.onSlot(8)
    expect(node.onQuorum(quorumOn(blocks[3]!, PRECOMMIT, 4, 0, true))).toEqual([])
    const week = 168 * RULES.epochSlots
    expect(votesIn(node.onSlot(week - 2))[0]).toMatchObject({ late: false })
    expect(votesIn(node.onSlot(week))[0]).toMatchObject({ late: true })
    const four = quorumOn(blocks[3]!, PRECOMMIT, week / 2, 0, true)
    node.onQuorum({ ...four, votes: four.votes.slice(0, 3) })
    expect(node.final.id).toBe('genesis')
    node.onQuorum({ ...four, votes: four.votes.slice(0, 4) })
    expect(node.final.id).toBe('x4')
  })

  test('two commits that exclude each other stop it: it says so and votes no more', () => {
    const node = nodeFor('a')
    const [one, other] = [chain(genesis, 9, 'x'), chain(genesis, 9, 'y')]
    for (const block of [...one, ...other]) node.onBlock(block)
    node.onSlot(8)
    node.onQuorum(quorumOn(one[5]!, PRECOMMIT, 4))
    const [conflict] = node.onQuorum(quorumOn(other[8]!, PRECOMMIT, 4))
    expect(conflict?.kind).toBe('conflict')
    expect(node.isHalted).toBe(true)
    expect(votesIn(node.onSlot(10))).toEqual([])
  })

  test('attack 355: what of a quorum can be told without its signatures is told before them', () => {
    const node = nodeFor('a')
    const blocks = chain(genesis, 9, 'x')
    for (const block of blocks.slice(0, 8)) node.onBlock(block)
    node.onSlot(8)
    const lock = quorumOn(blocks[5]!, PREVOTE, 4)
    const { votes } = lock
    expect(node.worthOf(lock)).toBe('news')
    const strangers = votes.map((each) => ({ ...each, voter: `${each.voter}${each.voter}` }))
    for (const other of [[], strangers, votes.slice(1), [...votes].reverse(), [...votes, votes[4]!]])
      expect(node.worthOf({ ...lock, votes: other })).toBe('wrong')
    const late = { late: true, votes: votes.map((each) => ({ ...each, late: true })) }
    expect(node.worthOf({ ...lock, ...late })).toBe('wrong')
    expect(node.worthOf({ ...lock, set: 1 })).toBe('old')
    node.onQuorum(lock)
    expect(node.worthOf(lock)).toBe('old')
    const unseen = quorumOn(blocks[8]!, PRECOMMIT, 4)
    expect(node.worthOf(unseen)).toBe('news')
    node.onQuorum(unseen)
    expect([unseen, quorumOn(blocks[8]!, PREVOTE, 5)].map((each) => node.worthOf(each))).toEqual(['old', 'old'])
    node.onBlock(blocks[8]!)
    expect(node.worthOf(quorumOn(blocks[8]!, PREVOTE, 5))).toBe('old')
  })

  test('attack 355: a past set is held to two thirds, whatever it says of being late', () => {
    const node = nodeFor('a')
    const blocks = chain(genesis, 12, 'x')
    for (const block of blocks) node.onBlock(block)
    node.onSlot(12)
    node.onQuorum(quorumOn(blocks[9]!, PRECOMMIT, 6))
    const { votes, ...half } = quorumOn({ ...blocks[4]!, id: 'y5' }, PRECOMMIT, 6, 0, true)
    expect(node.onQuorum({ ...half, votes: votes.slice(0, 4) })).toEqual([])
    expect(node.onQuorum(quorumOn({ ...blocks[4]!, id: 'y5' }, PRECOMMIT, 6))[0]?.kind).toBe('conflict')
  })

  test('a node without a place in the set only watches', () => {
    const node = nodeFor('stranger')
    for (const block of chain(genesis, 9, 'x')) node.onBlock(block)
    expect(votesIn(node.onSlot(8))).toEqual([])
  })

  test('what it lacks it asks for, and a waiting quorum takes effect when its block comes', () => {
    const node = nodeFor('a')
    const blocks = chain(genesis, 5, 'x')
    expect(node.onBlock(blocks[1]!)).toEqual([{ kind: 'behind' }])
    node.onSlot(6)
    expect(node.onQuorum(quorumOn(blocks[2]!, PRECOMMIT, 3))).toEqual([{ kind: 'behind' }])
    for (const block of blocks) node.onBlock(block)
    expect(node.final.id).toBe('x3')
  })
})

test('attack 24: a block of the next slot waits, one further ahead is dropped', () => {
  expect([7, 8, 9, 10, 99].map((slot) => whenDue(slot, 8))).toEqual(['now', 'now', 'wait', 'drop', 'drop'])
})
