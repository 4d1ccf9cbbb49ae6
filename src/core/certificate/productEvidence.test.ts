import { Buffer } from 'node:buffer'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { bytesFrom, plainProduct } from '../../../test/support/plainProduct.ts'
import { multiplied, openWasmField, turned } from '../../../test/support/sumcheckCheats.ts'
import { signerFrom } from '../bytes/ed25519.ts'
import { sha256 } from '../bytes/sha256.ts'
import { toMillis } from '../units/instants.ts'
import { PLAIN_HASHER } from '../work/engineRun.ts'
import { describeEvidence } from '../work/evidenceBehind.ts'
import { proveCommitted } from '../work/methods/sumcheck/committed.ts'
import { codeOperand } from '../work/methods/sumcheck/operandCode.ts'
import {
  type Codes,
  leastLiveShare,
  PRODUCT_TYPE,
  type ProductReceipt,
  productOf,
  stateProductReceipt,
} from '../work/methods/sumcheck/productReceipt.ts'
import { type ProductTensors, proveSumcheck } from '../work/methods/sumcheck/sumcheck.ts'
import { checkCertificate, type ReaderRules } from './checkCertificate.ts'
import { sealReceipt } from './envelope.ts'
import { issueProduct, productKind } from './productEvidence.ts'

const engine = await openWasmField()
const signer = signerFrom(sha256(Uint8Array.of(1)))
const SIZES = { rows: 5, columns: 6, k: 8, block: 2 }
const NOW = toMillis('2026-11-16T12:00:00.000Z')

interface Made {
  readonly receipt: ProductReceipt
  readonly tensors: ProductTensors
}

/** An honest receipt of a product, and what it is about. */
function made(fill = (name: string, bytes: number) => bytesFrom(name, bytes)): Made {
  const { work, given } = plainProduct(SIZES, fill)
  const [a, b] = [given.get('a')!, given.get('b')!]
  const c = multiplied(SIZES, a, b)
  const roots = c.map((bytes) => PLAIN_HASHER.root({ type: 'i32', rows: bytes.length / 24, width: 6 }, bytes))
  const receipt = {
    ...{ workId: work.workId, spec: work.text, orderId: work.orderId, seed: work.seed, roots },
    proof: proveSumcheck(engine, productOf(work, roots)!, { a, b }),
    codes: null,
    ...{ proverKey: sha256(Uint8Array.of(2)), program: 'test', device: 'test', elapsedUs: 1 },
    startedAt: '2026-11-16T11:58:00.000Z',
    ...{ issuedAt: '2026-11-16T11:59:00.000Z', notAfter: '2026-12-16T11:59:00.000Z' },
  }
  return { receipt, tensors: { a, b, c } }
}

const atHand = ({ c, a, b }: Held) => ({ engine, hasher: PLAIN_HASHER, c, operands: a && b ? { a, b } : null })

const rulesWith = (tensors: Held | null, published: Codes | null): ReaderRules => ({
  ...{ nowMs: NOW, trusted: [signer.publicKey], revocations: [], threshold: 1, required: [], prover: null },
  ...{ maxAgeSeconds: null, catalogue: { models: [], classes: [] } as never },
  kinds: { [PRODUCT_TYPE]: productKind(tensors && (async () => atHand(tensors)), published) },
})

/** What a reader has: C, and A and B or neither. */
type Held = Pick<ProductTensors, 'c'> & Partial<ProductTensors>

const judged = async (file: Uint8Array, tensors: Held | null, published: Codes | null = null) => {
  const { problem, doubts } = await checkCertificate(file, rulesWith(tensors, published), () => null)
  return problem ? `${problem.code} ${problem.where ?? ''}`.trim() : (doubts[0]?.code ?? 'holds')
}
const judgedReceipt = ({ receipt, tensors }: Made) => judged(issueProduct(receipt, signer), tensors)

const honest = made()

test('a receipt of a product holds for whoever has the matrices, and establishes nothing for others', async () => {
  expect(await judgedReceipt(honest)).toBe('holds')
  expect(await judged(issueProduct(honest.receipt, signer), null)).toBe('OPERANDS_NOT_AT_HAND')
})

test('a proof that is broken is refused even by who has none of them', async () => {
  const proof = honest.receipt.proof.map((byte, i) => (i === 20 ? byte ^ 1 : byte))
  const file = issueProduct({ ...honest.receipt, proof }, signer)
  expect(await judged(file, null)).toBe('PROOF_WRONG WRONG_ROUNDS')
})

test('nothing of a receipt can be changed, its signer willing', async () => {
  const { receipt } = honest
  const said = fc.constantFrom('proof', 'orderId', 'seed', 'workId', 'roots')
  await fc.assert(
    fc.asyncProperty(said, fc.nat(), fc.nat(7), async (name, at, bit) => {
      const flip = (bytes: Uint8Array) => bytes.map((byte, i) => (i === at % bytes.length ? byte ^ (1 << bit) : byte))
      const changed = name === 'roots' ? receipt.roots.map(flip) : flip(receipt[name as 'proof'])
      const found = await judgedReceipt({ ...honest, receipt: { ...receipt, [name]: changed } })
      expect(found).toMatch(/^(PROOF_WRONG|OTHER_TENSOR|WRONG_SUBJECT)/)
    }),
    { numRuns: 60 },
  )
})

test('a wrong result under its own roots and an honest prover of it is refused', async () => {
  let turn = 0
  const c = honest.tensors.c.map((bytes, i) => (i === 1 ? turned(bytes, (bound) => turn++ % bound) : bytes))
  const roots = c.map((bytes) => PLAIN_HASHER.root({ type: 'i32', rows: bytes.length / 24, width: 6 }, bytes))
  const { work } = plainProduct(SIZES, bytesFrom)
  const proof = proveSumcheck(engine, productOf(work, roots)!, honest.tensors)
  const cheat = { receipt: { ...honest.receipt, roots, proof }, tensors: { ...honest.tensors, c } }
  expect(await judgedReceipt(cheat)).toBe('PROOF_WRONG WRONG_RESULT')
})

test('attack 161: a product of zeros is proven, and credited with nothing', async () => {
  const zeros = made((_, bytes) => new Uint8Array(bytes))
  expect(await judgedReceipt(zeros)).toBe('DEAD_WORK')
})

test('the share of C that is live is that of C, wherever in memory it lies', () => {
  const pool = Buffer.alloc(4096)
  pool.fill(1, 0, 64)
  expect(leastLiveShare([pool.subarray(0, 64), pool.subarray(64, 128)])).toBe(0.5)
})

describe('operands under a code', () => {
  const { c, a, b } = honest.tensors
  const coded = [
    codeOperand(engine, PLAIN_HASHER, { type: 'i8', rows: 5, width: 8 }, a),
    codeOperand(engine, PLAIN_HASHER, { type: 'i8', rows: 6, width: 8 }, b),
  ] as const
  const codes: Codes = [coded[0].code, coded[1].code]
  const product = productOf(plainProduct(SIZES, bytesFrom).work, honest.receipt.roots)!
  const statement = { ...product, codeA: codes[0], codeB: codes[1] }
  const proof = proveCommitted(engine, PLAIN_HASHER, statement, ...coded)
  const receipt = { ...honest.receipt, codes, proof }
  const file = issueProduct(receipt, signer)

  test('C alone is enough where the codes are those that were published', async () => {
    expect(await judged(file, { c }, codes)).toBe('holds')
    expect(await judged(file, { c })).toBe('CODE_NOT_NAMED')
    expect(await judged(file, null, codes)).toBe('OPERANDS_NOT_AT_HAND')
    expect(await judged(file, { c }, [codes[1], codes[0]])).toBe('OTHER_TENSOR WRONG_TENSOR')
  })

  test('who has the operands holds the codes against them', async () => {
    expect(await judged(file, honest.tensors)).toBe('holds')
    expect(await judged(file, { a: b, b: a, c })).toBe('OTHER_TENSOR WRONG_TENSOR')
    expect(await judged(file, { a: turned(a, () => 0), b, c })).toBe('OTHER_TENSOR WRONG_TENSOR')
  })

  test('attack 492: the numbers of the published operands in other sizes are other operands', async () => {
    const published = [
      codeOperand(engine, PLAIN_HASHER, { type: 'i8', rows: 10, width: 4 }, a),
      codeOperand(engine, PLAIN_HASHER, { type: 'i8', rows: 12, width: 4 }, b),
    ] as const
    expect(published.map(({ tree }) => tree.root)).toEqual(coded.map(({ tree }) => tree.root))
    const theirs: Codes = [published[0].code, published[1].code]
    expect(await judged(file, { c }, theirs)).toBe('OTHER_TENSOR WRONG_TENSOR')
    const stated = { ...product, codeA: theirs[0], codeB: theirs[1] }
    const named = { ...receipt, codes: theirs, proof: proveCommitted(engine, PLAIN_HASHER, stated, ...coded) }
    expect(await judged(issueProduct(named, signer), { c }, theirs)).toBe('PROOF_WRONG COLUMN_NOT_COMMITTED')
  })

  test('another result or proof is refused', async () => {
    expect(await judged(file, { c: c.map((block) => turned(block, () => 0)) }, codes)).toBe('OTHER_TENSOR WRONG_TENSOR')
    const cut = issueProduct({ ...receipt, proof: proof.slice(1) }, signer)
    expect(await judged(cut, { c }, codes)).toMatch(/^PROOF_WRONG/)
    const uncoded = issueProduct({ ...receipt, codes: null }, signer)
    expect(await judged(uncoded, { c }, codes)).toBe('MALFORMED evidence')
  })
})

test('what is not in its one form is refused before anything is computed', async () => {
  const { receipt } = honest
  const stated = stateProductReceipt(receipt)
  const seal = (change: object, evidence = stated.evidence) => {
    const predicate = { ...stated.statement.predicate, evidence: describeEvidence(evidence), ...change }
    return judged(sealReceipt({ statement: { ...stated.statement, predicate }, evidence }, signer), null)
  }
  for (const evidence of [new Uint8Array(3), Uint8Array.of(1, 0, 0, 0, ...new Uint8Array(31))])
    expect(await seal({}, evidence)).toBe('MALFORMED evidence')
  expect(await seal({}, Uint8Array.of(0xff, 0xff, 0xff, 0xff, ...stated.evidence.slice(4)))).toBe('MALFORMED evidence')
  expect(await seal({}, Uint8Array.of(1, 0, 0, 0, ...new Uint8Array(32)))).toMatch(/^BAD_WORK/)
  expect(await seal({}, new Uint8Array(4 + 593))).toBe('MALFORMED evidence')
  expect(await seal({ more: 1 })).toMatch(/^MALFORMED/)
  expect(await seal({ notAfter: receipt.startedAt })).toBe('WRONG_TIMES notAfter')
  expect(await seal({ spec: '{}' })).toMatch(/^BAD_WORK/)
})
