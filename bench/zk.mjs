#!/usr/bin/env node
// Products in zero knowledge (W10): what committing, proving and checking cost, on one core, by processor time.
// Run `node scripts/build.mjs` first, then `node bench/zk.mjs`. Results go to bench/results/zk.json.
import { randomBytes } from 'node:crypto'
import { checkPrivate } from '../dist/core/work/methods/zk/checkPrivate.js'
import {
  commitColumns,
  commitRows,
  drawMasks,
  drawScalars,
  provePrivate,
} from '../dist/core/work/methods/zk/provePrivate.js'
import { basesFor, matrixId, spellProduct } from '../dist/core/work/methods/zk/statement.js'
import { ProductTranscript } from '../dist/core/work/methods/zk/transcript.js'
import { keepResult } from './support/keepResult.mjs'

const chance = (bytes) => new Uint8Array(randomBytes(bytes))
const TURNS = 5

/** The middle of a few, in milliseconds. */
function middle(job) {
  const all = Array.from({ length: TURNS }, () => {
    const before = process.cpuUsage()
    job()
    const { user, system } = process.cpuUsage(before)
    return (user + system) / 1e3
  })
  return Number(all.sort((a, b) => a - b)[TURNS >> 1].toPrecision(3))
}

const some = (count) => Array.from({ length: count }, () => BigInt((randomBytes(1)[0] % 255) - 127))

function measure(sizes, hidesB) {
  const { rows, inner, columns } = sizes
  const [a, b] = [some(rows * inner), some(columns * inner)]
  const c = Array.from({ length: rows * columns }, (_, at) => {
    const [i, j] = [Math.floor(at / columns) * inner, (at % columns) * inner]
    return a.slice(i, i + inner).reduce((sum, entry, l) => sum + entry * b[j + l], 0n)
  })
  const blindA = drawScalars(chance, rows)
  const committed = commitRows(sizes, a, blindA)
  const bases = basesFor(inner, matrixId(committed))
  const none = (count) => new Array(count).fill(0n)
  const blindB = hidesB ? drawScalars(chance, columns) : none(columns)
  const product = {
    ...sizes,
    a: committed,
    b: hidesB ? { hidden: commitColumns(bases, sizes, b, blindB) } : { open: b.map(Number) },
    c: { open: c.map(Number) },
  }
  const secrets = { a, blindA, b, blindB, blindC: none(rows * columns) }
  const draws = () => new ProductTranscript(spellProduct(product))
  const prove = () => provePrivate(product, bases, secrets, drawMasks(chance, inner), draws())
  const proof = prove()
  if (checkPrivate(product, bases, proof, draws()) !== null) throw new Error('an honest proof is refused')
  const lie = { ...product, c: { open: c.map((entry, i) => Number(entry) + (i === 0 ? 1 : 0)) } }
  if (checkPrivate(lie, bases, proof, draws()) === null) throw new Error('a cheat passed')
  return {
    'commit to A, ms': middle(() => commitRows(sizes, a, blindA)),
    'bases, ms': middle(() => basesFor(inner, matrixId(committed))),
    'prove, ms': middle(prove),
    'check, ms': middle(() => checkPrivate(product, bases, proof, draws())),
    'proof, bytes': proof.length,
    'commitments, bytes': 32 * (rows + (hidesB ? columns : 0)),
  }
}

measure({ rows: 1, inner: 4, columns: 1 }, true)
const figures = {
  'dot product of 64, both hidden': measure({ rows: 1, inner: 64, columns: 1 }, true),
  '16 x 16 by 16 x 16, both hidden': measure({ rows: 16, inner: 16, columns: 16 }, true),
  'private model, 10 x 64, one input': measure({ rows: 10, inner: 64, columns: 1 }, false),
}
console.table(figures)
keepResult('zk', 'node bench/zk.mjs', { figures })
