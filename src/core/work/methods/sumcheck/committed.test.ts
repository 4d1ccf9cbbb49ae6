import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import {
  COMMITTED_CHEATS,
  commitProduct,
  committedCheatsThatPass,
  committedProduct,
  judgeCommitted,
} from '../../../../../test/support/committedCheats.ts'
import { nativeLibraries } from '../../../../../test/support/nativeLibraries.ts'
import { openWasmField } from '../../../../../test/support/sumcheckCheats.ts'
import { fromHex, toHex } from '../../../bytes/hex.ts'
import { sha256 } from '../../../bytes/sha256.ts'
import { codeLength, isCodable, layoutOf } from './code.ts'
import { committedError } from './committed.ts'
import type { FieldEngine } from './evaluate.ts'
import { sumcheckProofBytes } from './sumcheck.ts'

interface Vector {
  readonly rows: number
  readonly columns: number
  readonly k: number
  readonly block: number
  readonly workId: string
  readonly a: readonly (readonly number[])[]
  readonly b: readonly (readonly number[])[]
  readonly codes: readonly string[]
  readonly proofBytes: number
  readonly proofSha256: string
}

const VECTORS: readonly Vector[] = JSON.parse(
  readFileSync(new URL('../../../../../test/vectors/committed.json', import.meta.url), 'utf8'),
)

const wasm = await openWasmField()
const MEMORY = 2 ** 23
const native = (await nativeLibraries()).map(({ file, native }): [string, FieldEngine] => {
  const memory = new Uint8Array(MEMORY)
  const reserve = (end: number) => expect(end).toBeLessThan(MEMORY)
  const view = (at: number, bytes: number) => memory.subarray(at, at + bytes)
  return [file, { kernels: native.fieldOn(memory), start: 64, view, reserve }]
})
const engines: readonly (readonly [string, FieldEngine])[] = [['WebAssembly', wasm], ...native]

describe.each(engines)('operands under a code, on %s', (_, engine) => {
  test('make the proofs of the independent implementation, byte for byte', () => {
    for (const { a, b, workId, codes, proofBytes, proofSha256, ...sizes } of VECTORS) {
      const bytes = (rows: readonly (readonly number[])[]) => new Uint8Array(Int8Array.from(rows.flat()).buffer)
      const made = commitProduct(engine, sizes, fromHex(workId, 32)!, { a: bytes(a), b: bytes(b) })
      expect([made.a.code, made.b.code].map(toHex)).toEqual(codes)
      expect([made.proof.length, toHex(sha256(made.proof))]).toEqual([proofBytes, proofSha256])
      expect(judgeCommitted(engine, made)).toBeNull()
    }
  })

  test('of any shape, in several rows of code or one, are opened', () => {
    for (const [seed, sizes] of [
      { rows: 40, columns: 33, k: 30, block: 16 },
      { rows: 3, columns: 1, k: 1500, block: 2 },
    ].entries())
      expect(judgeCommitted(engine, committedProduct(engine, sizes, seed))).toBeNull()
  })
})

describe('operands under a code', () => {
  test.each(Object.entries(COMMITTED_CHEATS))('%s is found, 24 times', (_, cheat) => {
    expect(committedCheatsThatPass(wasm, cheat, 24)).toBe(0)
  })

  test('say what is wrong', () => {
    const honest = committedProduct(wasm, { rows: 6, columns: 5, k: 8, block: 4 }, 3)
    const { statement, proof } = honest
    const cheat = (name: string) =>
      judgeCommitted(
        wasm,
        COMMITTED_CHEATS[name]!(wasm, honest, () => 1),
      )
    const turnedAt = (at: number) => ({ ...honest, proof: proof.map((byte, i) => (i === at ? byte ^ 1 : byte)) })
    expect(cheat('last values that are not those of what was committed to')).toBe('WRONG_VALUE')
    expect(cheat('another operand than the committed one, under its old code')).toBe('WRONG_CODE')
    expect(cheat('a code that is none: half of its columns are chance')).toBe('WRONG_CODE')
    expect(cheat('another code')).toBe('WRONG_ROUNDS')
    expect(judgeCommitted(wasm, { ...honest, c: honest.c.slice(1) })).toBe('WRONG_TENSOR')
    expect(judgeCommitted(wasm, { ...honest, proof: proof.slice(0, -1) })).toBe('BAD_OPENING')
    expect(judgeCommitted(wasm, { ...honest, proof: proof.slice(0, 99) })).toBe('BAD_PROOF')
    const said = sumcheckProofBytes(statement.k)
    const high = proof.slice()
    high.fill(255, said, said + 8)
    expect(judgeCommitted(wasm, { ...honest, proof: high })).toBe('BAD_OPENING')
    const { low } = layoutOf(6, 8)
    expect(judgeCommitted(wasm, turnedAt(said + 32 * 2 ** low))).toBe('COLUMN_NOT_COMMITTED')
    expect(judgeCommitted(wasm, turnedAt(proof.length - 33))).toBe('ROW_NOT_COMMITTED')
  })

  test('err with a chance below 2^-100 at the largest sizes', () => {
    expect(committedError({ rows: 4096, columns: 4096, k: 4096 })).toBeLessThan(-103)
    const largest = { rows: 32_768, columns: 32_768, k: 32_768 }
    expect(codeLength(layoutOf(largest.rows, largest.k))).toBe(2 ** 20)
    expect(committedError(largest)).toBeLessThan(-100)
    expect(isCodable({ rows: 32_768, width: 32_769 })).toBe(false)
  })
})
