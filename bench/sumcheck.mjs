#!/usr/bin/env node
// A product proven by sumcheck: what proof and check cost beside the product, on one core, by processor time, one run each.
// Run `node scripts/build.mjs` first, then `node bench/sumcheck.mjs [side ...]`. Results go to bench/results/sumcheck.json.
// With --committed the operands are under a code, and whoever checks has neither: results in bench/results/committed.json.
import { createHash } from 'node:crypto'
import { checkCommitted, committedError, proveCommitted } from '../dist/core/work/methods/sumcheck/committed.js'
import { codeOperand } from '../dist/core/work/methods/sumcheck/operandCode.js'
import {
  checkHashedSumcheck,
  checkSumcheck,
  proveSumcheck,
  sumcheckError,
} from '../dist/core/work/methods/sumcheck/sumcheck.js'
import { hasherOn } from '../dist/core/work/workEngine.js'
import { openExactEngine, openFieldEngine } from '../dist/drivers/gpu/cpu/work/openCpuWork.js'
import { chooseKernels } from '../dist/drivers/system/chooseKernels.js'
import { keepResult } from './support/keepResult.mjs'

const isCommitted = process.argv.includes('--committed')
const sides = process.argv
  .slice(2)
  .filter((word) => word !== '--committed')
  .map(Number)
const ROWS = 4096

function seconds(job) {
  const before = process.cpuUsage()
  const result = job()
  const { user, system } = process.cpuUsage(before)
  return [result, (user + system) / 1e6]
}

const engine = await openExactEngine()
const field = await openFieldEngine()
const hasher = hasherOn(await openExactEngine())

/** Operands of -127 to 127 that no pattern helps with. */
function operand(side, seed) {
  const bytes = new Int8Array(side * side)
  let state = seed
  for (let i = 0; i < bytes.length; i++) {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    bytes[i] = ((state >>> 8) % 255) - 127
  }
  return new Uint8Array(bytes.buffer)
}

/** The bare product: operands in the engine's memory, C made there in blocks. */
function multiply(side, a, b) {
  const [atA, atB, atC] = [engine.start, engine.start + side * side, engine.start + 2 * side * side]
  engine.view(atA, a.length).set(a)
  engine.view(atB, b.length).set(b)
  engine.view(atC, 4 * side * side).fill(0)
  const [, product] = seconds(() => {
    for (let row = 0; row < side; row += ROWS) {
      const rows = Math.min(ROWS, side - row)
      engine.kernels.product(atA + row * side, atB, atC + 4 * row * side, rows, side, side, 1, 1, 0, 0)
    }
  })
  const c = Array.from({ length: Math.ceil(side / ROWS) }, (_, i) => {
    const rows = Math.min(ROWS, side - i * ROWS)
    return engine.view(atC + 4 * i * ROWS * side, 4 * rows * side)
  })
  return { product, c }
}

function measure(side) {
  const [a, b] = [operand(side, 1), operand(side, 2)]
  const { product, c } = multiply(side, a, b)
  const shape = { type: 'i8', rows: side, width: side }
  const [[rootA, rootB], hashOperands] = seconds(() => [hasher.root(shape, a), hasher.root(shape, b)])
  const [rootsC, hashResult] = seconds(() =>
    c.map((bytes) => hasher.root({ type: 'i32', rows: bytes.length / 4 / side, width: side }, bytes)),
  )
  const workId = createHash('sha256').update(`bench ${side}`).digest()
  const statement = { workId, rows: side, columns: side, k: side, block: ROWS, rootA, rootB, rootsC }
  const [proof, prove] = seconds(() => proveSumcheck(field, statement, { a, b }))
  const [problem, check] = seconds(() => checkHashedSumcheck(field, statement, { a, b, c }, proof))
  if (problem !== null || checkSumcheck(field, hasher, statement, { a, b, c }, proof) !== null)
    throw new Error(`an honest proof is refused: ${problem}`)
  c.at(-1)[4 * 7] ^= 1
  if (checkHashedSumcheck(field, statement, { a, b, c }, proof) !== 'WRONG_RESULT') throw new Error('a cheat passed')
  const round = (x) => Number(x.toPrecision(3))
  return {
    'product, s': round(product),
    'prove, s': round(prove),
    'check, s': round(check),
    'hash A and B, s': round(hashOperands),
    'hash C, s': round(hashResult),
    'product / check': round(product / check),
    'product / (check + hashes)': round(product / (check + hashOperands + hashResult)),
    'prover / product, without hashes': round((product + prove) / product),
    'prover / product, with hash of C': round((product + prove + hashResult) / product),
    'proof, bytes': proof.length,
    'log2 of error': round(sumcheckError(statement)),
  }
}

/** The same for operands under a code. */
function measureCommitted(side) {
  const [a, b] = [operand(side, 1), operand(side, 2)]
  const { product, c } = multiply(side, a, b)
  const shape = { type: 'i8', rows: side, width: side }
  const rootsC = c.map((bytes) => hasher.root({ type: 'i32', rows: bytes.length / 4 / side, width: side }, bytes))
  const [codedA, code] = seconds(() => codeOperand(field, hasher, shape, a))
  const codedB = codeOperand(field, hasher, shape, b)
  const workId = createHash('sha256').update(`bench ${side}`).digest()
  const sizes = { rows: side, columns: side, k: side, block: ROWS }
  const roots = { rootA: codedA.root, rootB: codedB.root, codeRootA: codedA.codeRoot, codeRootB: codedB.codeRoot }
  const statement = { workId, ...sizes, ...roots, rootsC }
  const [proof, prove] = seconds(() => proveCommitted(field, hasher, statement, codedA, codedB))
  const [problem, check] = seconds(() => checkCommitted(field, hasher, statement, c, proof))
  if (problem !== null) throw new Error(`an honest proof is refused: ${problem}`)
  proof[proof.length >> 1] ^= 1
  if (checkCommitted(field, hasher, statement, c, proof) === null) throw new Error('a cheat passed')
  const round = (x) => Number(x.toPrecision(3))
  return {
    'product, s': round(product),
    'code of one operand, s': round(code),
    'prove, s': round(prove),
    'check with hash of C, s': round(check),
    'product / check': round(product / check),
    'proof, bytes': proof.length,
    'operands, bytes': 2 * side * side,
    'log2 of error': round(committedError(statement)),
  }
}

// Once to make the code warm.
const job = isCommitted ? measureCommitted : measure
job(256)
const figures = Object.fromEntries((sides.length ? sides : [1024, 4096]).map((side) => [`${side}^3`, job(side)]))
const kernels = (await chooseKernels())?.name ?? 'WebAssembly'
console.log(kernels)
console.table(figures)
const words = [...(isCommitted ? ['--committed'] : []), ...sides].join(' ')
keepResult(isCommitted ? 'committed' : 'sumcheck', `node bench/sumcheck.mjs ${words}`.trim(), { kernels, figures })
