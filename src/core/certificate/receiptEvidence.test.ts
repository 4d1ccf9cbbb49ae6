import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { plainEngine, plainProduct } from '../../../test/support/plainProduct.ts'
import { openExactEngine } from '../../drivers/gpu/cpu/work/openCpuWork.ts'
import { concatBytes } from '../bytes/bytes.ts'
import { signerFrom } from '../bytes/ed25519.ts'
import { sha256 } from '../bytes/sha256.ts'
import { toInstant, toMillis } from '../units/instants.ts'
import { EngineRun } from '../work/engineRun.ts'
import { describeEvidence } from '../work/evidenceBehind.ts'
import { proveWork } from '../work/proveWork.ts'
import { type Receipt, stateReceipt, WORK_TYPE } from '../work/receipt.ts'
import { patchRunner } from '../work/runPatch.ts'
import { EXACT_OPS } from '../work/workOps.ts'
import { checkCertificate, type ReaderRules } from './checkCertificate.ts'
import { mendLineEnd, sealReceipt, takeApart } from './envelope.ts'
import { isProblem } from './problems.ts'
import { openEvidence } from './readEvidence.ts'
import { issueReceipt, receiptKind, type WithInputs } from './receiptEvidence.ts'

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

test('attack 397: who drew for himself has no clock to tell of', async () => {
  const receipt = await honestReceipt()
  expect(problemWith(receipt)).toBeNull()
  expect(problemWith({ ...receipt, elapsedUs: 40 })).toEqual({ code: 'MALFORMED', where: 'elapsedUs' })
})

/** What a check says of a file, every patch recomputed. */
async function codeOf(file: Uint8Array, inputs: WithInputs | null = null): Promise<string> {
  const rules: ReaderRules = {
    ...{ nowMs: ISSUED_MS, trusted: [signer.publicKey], revocations: [], threshold: 1, required: [], prover: null },
    ...{ maxAgeSeconds: null, catalogue: { models: [], classes: [] } as never },
    kinds: { [WORK_TYPE]: receiptKind(async () => patchRunner(await openExactEngine(), EXACT_OPS), inputs) },
  }
  const { problem, doubts } = await checkCertificate(mendLineEnd(file) ?? file, rules, () => null)
  return problem?.code ?? doubts.map(({ code }) => code).join()
}

test('attack 450: who drew for himself chose what is credited, also where all of it was run again', async () => {
  const replayed: WithInputs = { hold: async (work) => work, replay: async () => ({ segments: 1, problem: null }) }
  expect(await codeOf(issueReceipt(await honestReceipt(), signer), replayed)).toBe('SELF_DRAWN')
})

const stated = async () => stateReceipt(await honestReceipt())
/** The line of an honest receipt, whose signer says this of its evidence, before any bytes. */
const claiming = async (said: object, evidence: Uint8Array) => {
  const { statement } = await stated()
  return sealReceipt({ statement: { ...statement, predicate: { ...statement.predicate, ...said } }, evidence }, signer)
}

describe('attack 216: behind the signed line of a receipt', () => {
  test('its own evidence is read, and any other byte, one fewer or one more is refused', async () => {
    const file = issueReceipt(await honestReceipt(), signer)
    const { line } = takeApart(file)
    expect(await codeOf(file)).toBe('SELF_DRAWN')
    for (const cut of [line.length, line.length + 1, file.length - 1])
      expect(await codeOf(file.slice(0, cut))).toBe('TRUNCATED')
    for (const more of [Uint8Array.of(10), file]) expect(await codeOf(concatBytes(file, more))).toBe('OTHER_EVIDENCE')
    await fc.assert(
      fc.asyncProperty(fc.nat(), fc.nat(7), async (at, bit) => {
        const place = line.length + (at % (file.length - line.length))
        const other = file.map((byte, i) => (i === place ? byte ^ (1 << bit) : byte))
        expect(await codeOf(other)).toBe('OTHER_EVIDENCE')
      }),
      { numRuns: 30 },
    )
  })

  test('the evidence of another receipt is refused, and so is a line that was made to fit it', async () => {
    const { evidence } = await stated()
    const other = stateReceipt({ ...(await honestReceipt()), marks: [] }).evidence
    const file = sealReceipt({ statement: (await stated()).statement, evidence: other }, signer)
    expect(await codeOf(file)).toBe(other.length < evidence.length ? 'TRUNCATED' : 'OTHER_EVIDENCE')
    const { line } = takeApart(issueReceipt(await honestReceipt(), signer))
    const envelope = JSON.parse(line)
    const payload = JSON.parse(atob(envelope.payload))
    payload.predicate.evidence = describeEvidence(other)
    const fitted = `${JSON.stringify({ ...envelope, payload: btoa(JSON.stringify(payload)) })}\n`
    expect(await codeOf(concatBytes(new TextEncoder().encode(fitted), other))).toBe('BAD_SIGNATURE')
  })

  test('signed by its own maker it must still be spelled as evidence is', async () => {
    const { evidence } = await stated()
    for (const bytes of [new Uint8Array(), evidence.slice(0, -1), concatBytes(evidence, Uint8Array.of(0))])
      expect(await codeOf(await claiming({ evidence: describeEvidence(bytes) }, bytes))).toBe('MALFORMED')
  })

  test('nothing may stand where a file has no evidence', async () => {
    const certificate = readFileSync(new URL('../../../bench/fixtures/h200-mainnet.json', import.meta.url))
    const opened = openEvidence({ line: certificate.toString('latin1'), evidence: Uint8Array.of(0) }, () => true)
    expect(opened).toMatchObject({ code: 'NOT_CANONICAL', where: 'behind the signed line' })
  })
})

test('attack 217: a length that is claimed is compared, never made', async () => {
  const { evidence } = await stated()
  const { sha256: hash } = describeEvidence(evidence)
  for (const [bytes, code] of [
    [2 ** 26, 'TRUNCATED'],
    [2 ** 26 + 1, 'MALFORMED'],
    [2 ** 52, 'MALFORMED'],
    [-1, 'MALFORMED'],
    [1.5, 'MALFORMED'],
    [0, 'OTHER_EVIDENCE'],
  ] as const)
    expect(await codeOf(await claiming({ evidence: { bytes, sha256: hash } }, evidence))).toBe(code)
  const line = await claiming({ spec: ' '.repeat(2 ** 20) }, evidence)
  expect(await codeOf(line)).toBe('TOO_LARGE')
})

test('evidence that ends like a line without its end is left as it is', async () => {
  const receipt = await honestReceipt()
  const file = issueReceipt(receipt, signer)
  const ended = concatBytes(file.slice(0, -1), new TextEncoder().encode('}'))
  expect(mendLineEnd(ended)).toBeNull()
  const { line } = takeApart(file)
  expect(mendLineEnd(new TextEncoder().encode(line.trimEnd()))).toEqual(new TextEncoder().encode(line))
})

test('a receipt of version 1 is told from a file that nobody knows', async () => {
  for (const kind of ['work', 'product', 'private-answer']) {
    const predicateType = `urn:touchstone:${kind}:1`
    expect(await codeOf(sealReceipt({ statement: { predicateType }, evidence: new Uint8Array() }, signer))).toBe(
      'EARLIER_RECEIPT',
    )
  }
})
