import { expect, test } from 'vitest'
import { plainEngine, plainProduct } from '../../../test/support/plainProduct.ts'
import { signerFrom } from '../bytes/ed25519.ts'
import { sha256 } from '../bytes/sha256.ts'
import { toInstant, toMillis } from '../units/instants.ts'
import { EngineRun } from '../work/engineRun.ts'
import { proveWork } from '../work/proveWork.ts'
import { type Receipt, WORK_TYPE } from '../work/receipt.ts'
import { takeApart } from './envelope.ts'
import { isProblem } from './problems.ts'
import { openEvidence } from './readEvidence.ts'
import { issueReceipt, receiptKind } from './receiptEvidence.ts'

const signer = signerFrom(sha256(Uint8Array.of(7)))
const ISSUED_MS = toMillis('2026-01-01T00:00:00.000Z')
const DAY_MS = 24 * 3600 * 1000

async function honestReceipt(): Promise<Receipt> {
  const { work, given } = plainProduct({ rows: 8, columns: 6, k: 40, block: 4 })
  const run = new EngineRun(plainEngine(), work, given)
  const marks = work.ends.map((_, segment) => run.advance(segment))
  const firstRoot = new Uint8Array(32)
  const proof = await proveWork(work, { firstRoot, marks }, run, (draw) => sha256(Uint8Array.of(draw)))
  return {
    ...{ ...proof, firstRoot, marks, workId: work.workId, orderId: work.orderId, seed: work.seed, spec: work.text },
    ...{
      startedAt: toInstant(ISSUED_MS - 1000),
      issuedAt: toInstant(ISSUED_MS),
      notAfter: toInstant(ISSUED_MS + DAY_MS),
    },
    ...{ proverKey: signer.publicKey, program: 'test', device: 'test', drawnBy: 'device', elapsedUs: null },
  }
}

const noKernels = () => Promise.reject(new Error('nothing is recomputed here'))

/** The problem with reading it, or null. */
const problemWith = (receipt: Receipt) => {
  const opened = openEvidence(takeApart(issueReceipt(receipt, signer)), () => true, undefined, {
    [WORK_TYPE]: receiptKind(noKernels),
  })
  return isProblem(opened) ? opened : null
}

test('a receipt is valid for at most 366 days from its issue on, and begun before it', async () => {
  const receipt = await honestReceipt()
  const at = (days: number) => toInstant(ISSUED_MS + days * DAY_MS)
  for (const days of [1, 366]) expect(problemWith({ ...receipt, notAfter: at(days) })).toBeNull()
  for (const days of [-1, 0, 366.001, 36_500])
    expect(problemWith({ ...receipt, notAfter: at(days) })).toEqual({ code: 'WRONG_TIMES', where: 'notAfter' })
  expect(problemWith({ ...receipt, startedAt: at(0.5) })).toEqual({ code: 'WRONG_TIMES', where: 'startedAt' })
})
