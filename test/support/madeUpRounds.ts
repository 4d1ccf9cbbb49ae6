import { type RoundRecord, sealRound } from '../../src/core/ledger/roundRecord.ts'
import { testSigner } from './testSigner.ts'

/** A round of so many boxes, signed by a validator that tests know. */
export function madeUpRound(round: number, boxes = 5, scoreOf = (box: number) => 1000 + box): RoundRecord {
  const entries = Array.from({ length: boxes }, (_, i) => ({
    box: `box-${i}`,
    score: scoreOf(i),
    certificate: i % 3 === 2 ? null : (i + 1).toString(16).padStart(64, '0'),
  }))
  return sealRound({ round, closedAtMs: 1_700_000_000_000 + round, entries }, testSigner(7))
}
