import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { madeUpRound } from '../../../test/support/madeUpRounds.ts'
import { testSigner } from '../../../test/support/testSigner.ts'
import { signerFrom } from '../bytes/ed25519.ts'
import { fromHex, toHex } from '../bytes/hex.ts'
import {
  checkRound,
  checkScoreProof,
  proveScore,
  type RoundRecord,
  roundRecord,
  type ScoreEntry,
  type ScoreProof,
  scoreLeaf,
  scoreProof,
  sealRound,
} from './roundRecord.ts'

interface Case {
  readonly secret: string
  readonly record: RoundRecord
  readonly leaves: readonly string[]
  readonly proofs: readonly ScoreProof[]
}
const cases = JSON.parse(
  readFileSync(new URL('../../../test/vectors/ledger.json', import.meta.url), 'utf8'),
) as readonly Case[]

const boxes = fc.stringMatching(/^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/)
const entries = fc.uniqueArray(
  fc.record({
    box: boxes,
    score: fc.maxSafeNat(),
    certificate: fc.option(fc.uint8Array({ minLength: 32, maxLength: 32 }).map(toHex)),
  }),
  { selector: ({ box }) => box, minLength: 1, maxLength: 40 },
)
const rounds = fc.record({ round: fc.integer({ min: 1 }), closedAtMs: fc.integer({ min: 0, max: 8.64e15 }), entries })

describe('a round', () => {
  test('is what an independent implementation makes of it, bit by bit', () => {
    for (const { secret, record, leaves, proofs } of cases) {
      const signer = signerFrom(fromHex(secret, 32)!)
      expect(sealRound(record, signer)).toEqual(record)
      expect(record.entries.map((entry) => toHex(scoreLeaf(record, entry)))).toEqual(leaves)
      for (const proof of proofs) expect(proveScore(record, proof.entry.box)).toEqual(proof)
    }
    expect(cases.length).toBeGreaterThan(3)
  })

  test('property: it is read back from JSON, is signed, and every entry is provable', () => {
    fc.assert(
      fc.property(rounds, (given) => {
        const record = sealRound(given, testSigner(7))
        expect(roundRecord.parse(JSON.parse(JSON.stringify(record)))).toEqual(record)
        expect(checkRound(record)).toBeNull()
        for (const { box } of given.entries) {
          const proof = proveScore(record, box)!
          expect(scoreProof.parse(JSON.parse(JSON.stringify(proof)))).toEqual(proof)
          expect(checkScoreProof(proof)).toBeNull()
        }
      }),
      { numRuns: 15 },
    )
  })

  test('property: the order in which its entries were found changes nothing', () => {
    fc.assert(
      fc.property(rounds, fc.infiniteStream(fc.nat()), (given, draws) => {
        const shuffled = [...given.entries].sort(() => (draws.next().value! % 2 === 0 ? 1 : -1))
        expect(sealRound({ ...given, entries: shuffled }, testSigner(7))).toEqual(sealRound(given, testSigner(7)))
      }),
      { numRuns: 15 },
    )
  })

  test('a box that it does not name has no proof', () => {
    expect(proveScore(madeUpRound(1), 'another')).toBeNull()
  })
})

describe('attack 170: what does not hold', () => {
  const record = madeUpRound(7, 5)
  const proof = proveScore(record, 'box-3')!
  const withEntry = (change: Partial<ScoreEntry>): RoundRecord => ({
    ...record,
    entries: record.entries.map((entry, i) => (i === 2 ? { ...entry, ...change } : entry)),
  })

  test.each<[string, RoundRecord, string]>([
    ['another score', withEntry({ score: 1 }), 'ROOT'],
    ['another certificate', withEntry({ certificate: '11'.repeat(32) }), 'ROOT'],
    ['a box twice', withEntry({ box: 'box-1' }), 'ORDER'],
    ['another order', { ...record, entries: [...record.entries].reverse() }, 'ORDER'],
    ['another number', { ...record, round: 8 }, 'ROOT'],
    ['another time', { ...record, closedAtMs: 1 }, 'SIGNATURE'],
    ['an entry left out', { ...record, entries: record.entries.slice(1) }, 'ROOT'],
    ['the signature of another', { ...record, validator: toHex(testSigner(8).publicKey) }, 'ROOT'],
  ])('a round with %s', (_, changed, problem) => {
    expect(checkRound(changed)).toBe(problem)
  })

  test.each<[string, Partial<ScoreProof>, string]>([
    ['another score', { entry: { ...proof.entry, score: 9 } }, 'PATH'],
    ['another box', { entry: { ...proof.entry, box: 'box-4' } }, 'PATH'],
    ['another place', { place: 2 }, 'PATH'],
    ['a place beyond the boxes', { place: 5 }, 'PLACE'],
    ['a shorter path', { path: proof.path.slice(1) }, 'PLACE'],
    ['a longer path', { path: [...proof.path, '00'.repeat(32)] }, 'PLACE'],
    ['another count', { count: 6 }, 'SIGNATURE'],
    ['another round', { round: 8 }, 'PATH'],
    ['another time', { closedAtMs: 1 }, 'SIGNATURE'],
    ['another root', { root: '11'.repeat(32) }, 'PATH'],
    ['a signature of nobody', { signature: '00'.repeat(64) }, 'SIGNATURE'],
  ])('a proof with %s', (_, change, problem) => {
    expect(checkScoreProof({ ...proof, ...change })).toBe(problem)
  })

  test('a box with two scores in one round: each has a proof, and the whole round is refused', () => {
    const entries = [1, 900_000].map((score) => ({ box: 'box-1', score, certificate: null }))
    const twofold = sealRound({ round: 7, closedAtMs: 1, entries }, testSigner(1))
    const turned = { ...twofold, entries: [...twofold.entries].reverse() }
    const [first, other] = [proveScore(twofold, 'box-1')!, { ...proveScore(twofold, 'box-1')!, place: 1 }]
    const second = { ...other, entry: twofold.entries[1]!, path: [toHex(scoreLeaf(twofold, twofold.entries[0]!))] }
    expect([first, second].map((one) => [one.entry.score, checkScoreProof(one)])).toEqual([
      [1, null],
      [900_000, null],
    ])
    expect([twofold, turned].map(checkRound)).toEqual(['ORDER', 'ORDER'])
  })

  test('a node of the tree is not a score: leaves and nodes begin with different bytes', () => {
    const [sibling] = proof.path
    const short = { ...proof, place: 1, count: 3, path: proof.path.slice(1) }
    expect(sibling).toHaveLength(64)
    expect(checkScoreProof(short)).toBe('PATH')
  })
})
