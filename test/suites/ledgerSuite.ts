import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { proveScore, type ScoreProof } from '../../src/core/ledger/roundRecord.ts'
import type { Ledger } from '../../src/ports/ledger.ts'
import { madeUpRound } from '../support/madeUpRounds.ts'

export interface LedgerUnderTest {
  /** The ledger as a process sees it that has just started. */
  open(): Ledger
  /** Lets time pass until what was sent is final. */
  settle(): Promise<void>
  end(): Promise<void>
}

const { signal } = new AbortController()

/** What every ledger promises; each driver runs all of it. */
export function ledgerSuite(name: string, make: () => Promise<LedgerUnderTest>): void {
  describe(`ledger: ${name}`, () => {
    let under: LedgerUnderTest
    beforeAll(async () => {
      under = await make()
    })
    afterAll(() => under?.end())

    /** Publishes and waits; one step more than a ledger needs. */
    const surely = async (round: ReturnType<typeof madeUpRound>, ledger = under.open()) => {
      for (let step = 0; step < 3; step++) {
        const { kind } = await ledger.publish(round, signal)
        if (kind === 'published') return
        await under.settle()
      }
      throw new Error('not published')
    }

    test('a round is published once, whoever asks again, and stays', async () => {
      const round = madeUpRound(1)
      await surely(round)
      expect(await under.open().publish(round, signal)).toMatchObject({ kind: 'published' })
      await under.settle()
      expect(await under.open().publish(round, signal)).toMatchObject({ kind: 'published' })
    })

    test('kill -9 between two steps: the next process goes on, and nothing is published twice', async () => {
      const round = madeUpRound(2)
      await under.open().publish(round, signal)
      // Nobody remembers that it was sent: it may be in a block by now, or not.
      await under
        .open()
        .publish(round, signal)
        .catch((error: unknown) => expect(error).toMatchObject({ detail: { code: 'LEDGER_REFUSED' } }))
      await under.settle()
      await surely(round)
    })

    test('attack 170: another root for the same round is refused for good, and the first one stays', async () => {
      const round = madeUpRound(3)
      await surely(round)
      const other = madeUpRound(3, 5, () => 1_000_000)
      expect(await under.open().publish(other, signal)).toMatchObject({ kind: 'refused' })
      expect(await under.open().publish(round, signal)).toMatchObject({ kind: 'published' })
      expect(await under.open().confirms(proveScore(other, 'box-0')!, signal)).toBe(false)
    })

    test.each([1, 2, 5, 256])('of %i boxes every score is confirmed, and no other', async (boxes) => {
      const round = madeUpRound(10 + boxes, boxes)
      const ledger = under.open()
      const first = proveScore(round, 'box-0')!
      expect(await ledger.confirms(first, signal)).toBe(false)
      await surely(round, ledger)
      const asked = boxes > 5 ? ['box-0', 'box-77', 'box-255'] : round.entries.map(({ box }) => box)
      for (const box of asked) expect(await ledger.confirms(proveScore(round, box)!, signal)).toBe(true)
      for (const [what, lie] of liesAbout(first))
        expect([what, await ledger.confirms(lie, signal)]).toEqual([what, false])
    })
  })
}

/** The same proof with one thing changed. */
function liesAbout(proof: ScoreProof): readonly (readonly [string, ScoreProof])[] {
  const { entry } = proof
  return [
    ['score', { ...proof, entry: { ...entry, score: entry.score + 1 } }],
    ['box', { ...proof, entry: { ...entry, box: 'box-00' } }],
    ['certificate', { ...proof, entry: { ...entry, certificate: null } }],
    ['round', { ...proof, round: proof.round + 1_000 }],
    ['validator', { ...proof, validator: '11'.repeat(32) }],
  ]
}
