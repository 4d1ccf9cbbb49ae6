import { expect, test } from 'vitest'
import { provenPrivate } from '../../../test/support/privateProducts.ts'
import { signerFrom } from '../bytes/ed25519.ts'
import { sha256 } from '../bytes/sha256.ts'
import { toMillis } from '../units/instants.ts'
import { describeEvidence } from '../work/evidenceBehind.ts'
import { ANSWER_TYPE, type AnswerReceipt, stateAnswer } from '../work/methods/zk/answerReceipt.ts'
import { matrixId } from '../work/methods/zk/statement.ts'
import { answerKind, issueAnswer } from './answerEvidence.ts'
import { checkCertificate } from './checkCertificate.ts'
import { sealReceipt } from './envelope.ts'

const signer = signerFrom(sha256(Uint8Array.of(1)))
const { product, proof } = provenPrivate({ rows: 3, inner: 2, columns: 2 }, { b: false, c: false }, 1)
const modelId = matrixId(product.a)
const honest: AnswerReceipt = {
  ...{ product, proof, modelId, proverKey: signer.publicKey, program: 'test' },
  startedAt: '2026-11-16T11:58:00.000Z',
  ...{ issuedAt: '2026-11-16T11:59:00.000Z', notAfter: '2026-12-16T11:59:00.000Z' },
}

const INPUTS = { hasInputs: true, problemWith: () => null }

async function judged(file: Uint8Array, model: Uint8Array | null = modelId, atHand = INPUTS): Promise<string> {
  const rules = {
    ...{ nowMs: toMillis('2026-11-16T12:00:00.000Z'), trusted: [signer.publicKey], revocations: [], threshold: 1 },
    ...{ required: [], prover: null, maxAgeSeconds: null, catalogue: {} as never },
    kinds: { [ANSWER_TYPE]: answerKind(model, atHand) },
  }
  const { problem, doubts } = await checkCertificate(file, rules, () => null)
  return problem ? `${problem.code} ${problem.where ?? ''}`.trim() : (doubts[0]?.code ?? 'holds')
}
const judgedReceipt = (receipt: AnswerReceipt) => judged(issueAnswer(receipt, signer))

test('an answer holds for the model that was named, and for no other', async () => {
  expect(await judgedReceipt(honest)).toBe('holds')
  expect(await judged(issueAnswer(honest, signer), null)).toBe('MODEL_NOT_NAMED')
  expect(await judged(issueAnswer(honest, signer), sha256(modelId))).toBe('OTHER_MODEL')
})

test('attack 344: an answer to an input that the reader did not hand in shows nothing of his', async () => {
  const nothing = { ...INPUTS, hasInputs: false }
  expect(await judged(issueAnswer(honest, signer), modelId, nothing)).toBe('OPERANDS_NOT_AT_HAND')
})

test('another score, another input, other weights or another proof: refused, its signer willing', async () => {
  const changed = (side: typeof product.b) =>
    'open' in side ? { open: side.open.map((entry, i) => (i === 1 ? entry + 1 : entry)) } : side
  expect(await judgedReceipt({ ...honest, product: { ...product, c: changed(product.c) } })).toMatch(/^PROOF_WRONG/)
  expect(await judgedReceipt({ ...honest, product: { ...product, b: changed(product.b) } })).toMatch(/^PROOF_WRONG/)
  const a = [product.a[1]!, product.a[0]!, product.a[2]!]
  expect(await judgedReceipt({ ...honest, product: { ...product, a } })).toBe('MALFORMED evidence')
  expect(await judgedReceipt({ ...honest, product: { ...product, a }, modelId: matrixId(a) })).toBe('OTHER_MODEL')
  expect(await judgedReceipt({ ...honest, proof: proof.slice(1) })).toBe('PROOF_WRONG BAD_PROOF')
})

test('what is not in its one form is refused before anything is computed', async () => {
  const stated = stateAnswer(honest)
  const seal = (change: object, evidence = stated.evidence) => {
    const predicate = { ...stated.statement.predicate, evidence: describeEvidence(evidence), ...change }
    return judged(sealReceipt({ statement: { ...stated.statement, predicate }, evidence }, signer))
  }
  expect(await seal({ inner: 3 })).toBe('MALFORMED evidence')
  expect(await seal({ classes: 2 })).toBe('MALFORMED evidence')
  expect(await seal({ inputs: 1025 })).toBe('MALFORMED predicate.inputs')
  expect(await seal({}, stated.evidence.slice(0, 100))).toBe('MALFORMED evidence')
  expect(await seal({}, stated.evidence.slice(0, -1))).toBe('PROOF_WRONG BAD_PROOF')
  expect(await seal({}, new Uint8Array([...stated.evidence, 0]))).toBe('PROOF_WRONG BAD_PROOF')
  expect(await seal({ more: 1 })).toMatch(/^MALFORMED/)
  expect(await seal({ notAfter: honest.startedAt })).toBe('WRONG_TIMES notAfter')
  expect(await judgedReceipt({ ...honest, proverKey: sha256(modelId) })).toBe('WRONG_SUBJECT signer')
})
