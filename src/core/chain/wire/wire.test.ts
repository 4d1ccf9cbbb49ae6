import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { toHex } from '../../bytes/hex.ts'
import type { Quorum, Vote } from '../consensus/vote.ts'
import { PRECOMMIT } from '../recordCommit.ts'
import { VoteType } from '../ssz.ts'
import { decodeQuorum, decodeVote, encodeQuorum, encodeVote } from './messages.ts'
import { decodeVoterNote, encodeVoterNote } from './pastNote.ts'
import * as wire from './requests.ts'

const bytesOf = (length: number) => fc.uint8Array({ minLength: length, maxLength: length })
const key = bytesOf(32).map(toHex)
const number = fc.nat({ max: Number.MAX_SAFE_INTEGER })
const shared = fc.record({
  kind: fc.constantFrom(0 as const, 1 as const),
  set: number,
  round: number,
  target: key,
  targetSlot: number,
  late: fc.boolean(),
})
const own = fc.record({ lockRound: number, voter: key, signature: bytesOf(64) })
type Both = Omit<Quorum, 'votes'> & Pick<Vote, 'lockRound' | 'voter' | 'signature'>
const named = (vote: Both): Vote => ({ ...vote, lockRound: vote.kind === PRECOMMIT ? vote.round : vote.lockRound })
const vote = fc.tuple(shared, own).map(([a, b]) => named({ ...a, ...b }))
const quorum = fc
  .tuple(shared, fc.array(own, { maxLength: 5 }))
  .map(([a, votes]): Quorum => ({ ...a, votes: votes.map((each) => named({ ...a, ...each })) }))
const place = fc.record({ id: key, slot: number, height: number })
const count = (most: number) => fc.integer({ min: 1, max: most })
const question = fc.oneof(
  fc.constant({ kind: 'status' as const }),
  fc.record({ kind: fc.constant('blocks' as const), from: number, count: count(64) }),
  fc.record({ kind: fc.constant('ancestors' as const), id: key, count: count(32) }),
  fc.record({ kind: fc.constant('quorums' as const), set: number }),
  fc.record({ kind: fc.constant('state' as const), id: key, chunk: fc.nat({ max: 2 ** 32 - 1 }) }),
)

/** Comes back as it was, is refused with a byte more or less, and never throws on other bytes. */
function isExact<T>(
  values: fc.Arbitrary<T>,
  encode: (value: T) => Uint8Array,
  decode: (bytes: Uint8Array) => T | null,
) {
  fc.assert(
    fc.property(values, fc.uint8Array({ maxLength: 300 }), (value, noise) => {
      const bytes = encode(value)
      expect(decode(bytes)).toEqual(value)
      expect(decode(Uint8Array.of(...bytes, 0)) ?? 'refused').not.toEqual(value)
      if (bytes.length > 0) expect(decode(bytes.subarray(0, -1)) ?? 'refused').not.toEqual(value)
      const read = decode(noise)
      if (read !== null) expect(encode(read)).toEqual(noise)
    }),
    { numRuns: 60 },
  )
}

describe('messages between nodes', () => {
  test('a vote has one spelling', () => isExact(vote, encodeVote, decodeVote))
  test('a quorum has one spelling', () => isExact(quorum, encodeQuorum, decodeQuorum))
  test('a question has one spelling', () => isExact(question, wire.encodeQuestion, wire.decodeQuestion))
  test('a status has one spelling', () =>
    isExact(fc.record({ genesis: key, final: place, head: place }), wire.encodeStatus, wire.decodeStatus))
  test('blocks have one spelling', () =>
    isExact(fc.array(fc.uint8Array({ maxLength: 40 }), { maxLength: 5 }), wire.encodeBlocks, wire.decodeBlocks))
  test('quorums have one spelling', () =>
    isExact(fc.array(quorum, { maxLength: 3 }), wire.encodeQuorums, wire.decodeQuorums))
  test('a part of a state has one spelling', () =>
    isExact(
      fc.record({ total: fc.nat(), bytes: fc.uint8Array({ maxLength: 40 }) }),
      wire.encodeStateChunk,
      wire.decodeStateChunk,
    ))
  test('what a voter notes has one spelling', () =>
    isExact(fc.record({ voted: fc.tuple(number, number), lock: fc.option(quorum) }), encodeVoterNote, decodeVoterNote))

  test('attack 24: numbers and kinds out of range are refused, not rounded', () => {
    const plain = {
      ...{ kind: 0, set: 1n, round: 1n, target: new Uint8Array(32), targetSlot: 1n, lockRound: 0n, late: 0 },
      ...{ voter: new Uint8Array(32), sig: new Uint8Array(64) },
    }
    expect(decodeVote(VoteType.serialize(plain))).not.toBeNull()
    const wrong = [{ kind: 2 }, { late: 2 }, { set: 2n ** 53n }, { round: 2n ** 64n - 1n }, { lockRound: 2n ** 60n }]
    for (const more of wrong) expect(decodeVote(VoteType.serialize({ ...plain, ...more }))).toBeNull()
    for (const asked of [
      { kind: 'blocks' as const, from: 1, count: 65 },
      { kind: 'ancestors' as const, id: '00'.repeat(32), count: 33 },
    ])
      expect(wire.decodeQuestion(wire.encodeQuestion(asked))).toBeNull()
  })

  test('attack 350: a precommit with another lock round than its own is refused, alone and in a quorum', () => {
    const target = '00'.repeat(32)
    const shared = { kind: PRECOMMIT, set: 1, round: 7, target, targetSlot: 3, late: false } as const
    const by = (lockRound: number): Vote => ({ ...shared, lockRound, voter: target, signature: new Uint8Array(64) })
    const read = (lockRound: number) => {
      const votes = [by(lockRound)]
      const row = { ...shared, votes }
      return [
        decodeVote(encodeVote(by(lockRound))),
        decodeQuorum(encodeQuorum(row)),
        wire.decodeQuorums(wire.encodeQuorums([row])),
      ]
    }
    expect(read(7)).not.toContain(null)
    expect([...read(6), ...read(8)]).toEqual(Array(6).fill(null))
  })
})
