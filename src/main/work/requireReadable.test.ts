import { expect, test } from 'vitest'
import { plainEngine, plainProduct } from '../../../test/support/plainProduct.ts'
import { testSigner } from '../../../test/support/testSigner.ts'
import { sha256 } from '../../core/bytes/sha256.ts'
import { issueProduct } from '../../core/certificate/productEvidence.ts'
import { issueReceipt } from '../../core/certificate/receiptEvidence.ts'
import { toInstant } from '../../core/units/instants.ts'
import { EngineRun } from '../../core/work/engineRun.ts'
import { proveWork } from '../../core/work/proveWork.ts'
import { requireReadable } from './requireReadable.ts'

const { work, given } = plainProduct({ rows: 8, columns: 6, k: 40, block: 4 })
const [startedAt, issuedAt, notAfter] = [0, 1, 2].map((hours) => toInstant(3_600_000 * hours)) as [
  string,
  string,
  string,
]
const factsOf = (device: string) => ({
  ...{ workId: work.workId, orderId: work.orderId, seed: work.seed, spec: work.text, device, elapsedUs: 1000 },
  ...{ startedAt, issuedAt, notAfter, program: 'test', proverKey: testSigner(8).publicKey },
})

async function receiptOf(device: string): Promise<Uint8Array> {
  const run = new EngineRun(plainEngine(), work, given)
  const marks = work.ends.map((_, segment) => run.advance(segment))
  const firstRoot = new Uint8Array(32)
  const proof = await proveWork(work, { firstRoot, marks }, run, (draw: number) => sha256(Uint8Array.of(draw)))
  return issueReceipt({ ...factsOf(device), ...proof, firstRoot, marks, drawnBy: 'listener' }, testSigner(7))
}

const productOf = (device: string): Uint8Array => {
  const roots = work.ends.map(() => new Uint8Array(32))
  return issueProduct({ ...factsOf(device), roots, proof: new Uint8Array(8), codes: null }, testSigner(7))
}

test.each([
  ['work', receiptOf],
  ['product', productOf],
])('attack 299: the receipt of a %s that its own reader refuses is not handed out', async (_, issue) => {
  requireReadable(await issue('H'.repeat(120)))
  const tooLong = await issue('H'.repeat(121))
  expect(() => requireReadable(tooLong)).toThrow('nobody could read its receipt')
})
