import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { toHex } from '../../src/core/bytes/hex.ts'
import { sha256 } from '../../src/core/bytes/sha256.ts'
import { issueProduct } from '../../src/core/certificate/productEvidence.ts'
import { EngineRun, PLAIN_HASHER } from '../../src/core/work/engineRun.ts'
import { proveCommitted } from '../../src/core/work/methods/sumcheck/committed.ts'
import { codeOperand } from '../../src/core/work/methods/sumcheck/operandCode.ts'
import { productOf } from '../../src/core/work/methods/sumcheck/productReceipt.ts'
import { proveSumcheck } from '../../src/core/work/methods/sumcheck/sumcheck.ts'
import { proveWork } from '../../src/core/work/proveWork.ts'
import { linksOf } from '../../src/core/work/stateChain.ts'
import { openExactEngine, openStepEngine } from '../../src/drivers/gpu/cpu/work/openCpuWork.ts'
import { encodeNpy } from '../../src/drivers/workFiles/npy.ts'
import { turned } from '../../src/main/work/matmulWork.ts'
import { bytesFrom, plainEngine, plainProduct } from './plainProduct.ts'
import { provenReceipt } from './provenReceipt.ts'
import { smallMlp } from './smallStep.ts'
import { multiplied, openWasmField } from './sumcheckCheats.ts'
import { testSigner } from './testSigner.ts'
import { VALIDATOR } from './verifyInProcess.ts'

/** When the files were made that tests read. */
export const TIMES = {
  startedAt: '2026-11-15T11:59:00.000Z',
  issuedAt: '2026-11-15T12:00:00.000Z',
  notAfter: '2026-12-15T12:00:00.000Z',
}

/** Writes into a folder, and says where. */
export const writerIn = (folder: string) => (name: string, content: string | Uint8Array) => {
  writeFileSync(join(folder, name), content)
  return join(folder, name)
}

/** A product that was watched and opened, and what came of it. */
export async function openingsOf({ work, given }: ReturnType<typeof plainProduct>) {
  const run = new EngineRun(plainEngine(), work, given)
  const blocks: Uint8Array[] = []
  const marks = work.ends.map((_, segment) => {
    const mark = run.advance(segment)
    blocks.push(run.read('c').slice())
    return mark
  })
  const firstRoot = new Uint8Array(32)
  const proof = await proveWork(work, { firstRoot, marks }, run, (draw) => sha256(Uint8Array.of(draw)))
  const said = { workId: work.workId, orderId: work.orderId, seed: work.seed, spec: work.text, ...TIMES }
  const who = {
    proverKey: testSigner(7).publicKey,
    program: 'test',
    device: 'test',
    drawnBy: 'listener',
    elapsedUs: 1,
  } as const
  const facts = { ...proof, firstRoot, marks, ...said, ...who }
  return { facts, c: Buffer.concat(blocks), lastLink: linksOf(work.workId, firstRoot, marks).at(-1)! }
}

export async function provenTraining() {
  const make = smallMlp
  const open = { exact: () => openExactEngine(), step: () => openStepEngine() }
  let inputs: ReadonlyMap<string, Uint8Array> = new Map()
  const facts = await provenReceipt((hasher) => {
    const ready = make(hasher)
    inputs = ready.given
    return ready
  }, open)
  return { facts, given: inputs }
}

/** A and B as files of NumPy. */
export function operandFiles(
  write: ReturnType<typeof writerIn>,
  { rows, columns, k }: Readonly<Record<'rows' | 'columns' | 'k', number>>,
  given: ReadonlyMap<string, Uint8Array>,
): readonly string[] {
  const b = turned({ type: 'i8', rows: columns, width: k, bytes: given.get('b')! })
  return [
    write('a.npy', encodeNpy({ type: 'i8', rows, width: k, bytes: given.get('a')! })),
    write('b.npy', encodeNpy({ type: 'i8', rows: k, width: columns, bytes: b })),
  ]
}

/** Receipts of one product by sumcheck, without and with codes of its operands. */
export async function productFiles(write: ReturnType<typeof writerIn>) {
  const sizes = { rows: 5, columns: 6, k: 8, block: 2 }
  const field = await openWasmField()
  const { work, given } = plainProduct(sizes, bytesFrom)
  const [a, b] = [given.get('a')!, given.get('b')!]
  const c = multiplied(sizes, a, b)
  const roots = c.map((bytes) => PLAIN_HASHER.root({ type: 'i32', rows: bytes.length / 24, width: 6 }, bytes))
  const statement = productOf(work, roots)!
  const said = { workId: work.workId, spec: work.text, orderId: work.orderId, seed: work.seed, roots, ...TIMES }
  const facts = { ...said, proverKey: testSigner(7).publicKey, program: 'test', device: 'test', elapsedUs: 1 }
  const coded = [
    codeOperand(field, PLAIN_HASHER, { type: 'i8', rows: 5, width: 8 }, a),
    codeOperand(field, PLAIN_HASHER, { type: 'i8', rows: 6, width: 8 }, b),
  ] as const
  const codes = [coded[0].code, coded[1].code] as const
  const committed = { ...statement, codeA: codes[0], codeB: codes[1] }
  const issued = (name: string, more: Pick<Parameters<typeof issueProduct>[0], 'proof' | 'codes'>) =>
    write(name, issueProduct({ ...facts, ...more }, VALIDATOR))
  return {
    plain: issued('product.receipt', { proof: proveSumcheck(field, statement, { a, b }), codes: null }),
    coded: issued('coded.receipt', { proof: proveCommitted(field, PLAIN_HASHER, committed, ...coded), codes }),
    codes: codes.map(toHex),
    given: operandFiles((name, file) => write(`proven-${name}`, file), sizes, given),
    result: [write('product.npy', encodeNpy({ type: 'i32', rows: 5, width: 6, bytes: Buffer.concat(c) }))],
  }
}
