#!/usr/bin/env node
// The code and the hashes that a transition proven by sumcheck is committed under (docs/spec/work.md, W12.1): nanoseconds an
// entry on one core, by processor time, the best of five, beside the bare int8 product; and leaves of trees (W4.1). Run
// `node scripts/build.mjs` first, then `node bench/stepCode.mjs`. Results go to bench/results/stepCode.json.
import { layoutOf } from '../dist/core/work/methods/step/stepLayout.js'
import { StepMatrix } from '../dist/core/work/methods/step/stepMatrix.js'
import { StepRooms } from '../dist/core/work/methods/step/stepRooms.js'
import { QUAD_BYTES, stepTableBytes } from '../dist/core/work/stepKernels.js'
import { openExactEngine, openStepEngine } from '../dist/drivers/gpu/cpu/work/openCpuWork.js'
import { chooseKernels } from '../dist/drivers/system/chooseKernels.js'
import { keepResult } from './support/keepResult.mjs'

const TURNS = 5
const [ROWS, WIDTH] = [2 ** 15, 512]
const ENTRIES = ROWS * WIDTH

function nanoseconds(count, job) {
  const turns = Array.from({ length: TURNS }, () => {
    const before = process.cpuUsage()
    job()
    const { user, system } = process.cpuUsage(before)
    return user + system
  })
  return Number(((Math.min(...turns) * 1000) / count).toPrecision(3))
}

/** Bytes that no pattern helps with. */
function chance(bytes, seed) {
  const words = new Uint32Array(bytes / 4)
  let state = seed
  for (let i = 0; i < words.length; i++) {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    words[i] = state ^ (state << 7)
  }
  return new Uint8Array(words.buffer)
}

const engine = await openStepEngine()
const found = { processor: (await chooseKernels())?.name ?? 'WebAssembly' }

function codeAndSums(type, size) {
  const layout = layoutOf([{ name: 'x', type, rows: ROWS, width: WIDTH }])
  const rooms = new StepRooms(engine)
  const { kernels } = rooms
  const { low } = layout
  const k = 2 ** low
  const x = rooms.putBytes(chance(size * ENTRIES, 7))
  const [tables, room, out] = [rooms.room(stepTableBytes(low)), rooms.room(64 * k), rooms.room(ENTRIES)]
  const [states, sums, weights] = [rooms.room(32 * k), rooms.zeros(QUAD_BYTES * k), rooms.zeros(QUAD_BYTES * ROWS)]
  kernels.stepTables(tables, low)
  kernels.stepHashBegin(states, tables, k)
  const overRows = (step, job) => {
    for (let row = 0; row < layout.rows[type]; row += step) job(x + row * k * size, out + row * k)
  }
  const hash = size === 1 ? kernels.stepHashBytes : kernels.stepHashWords
  found[`${type}: code`] = nanoseconds(ENTRIES, () =>
    overRows(16, (from, to) => kernels.stepCode(from, tables, room, to, size, 16, low)),
  )
  found[`${type}: hash of entries`] = nanoseconds(ENTRIES, () =>
    overRows(size === 1 ? 64 : 16, (from) => hash(states, from, k)),
  )
  found[`${type}: hash of further values`] = nanoseconds(ENTRIES, () =>
    overRows(16, (_, to) => kernels.stepHashBlocks(states, to, k / 4)),
  )
  found[`${type}: rows by weights`] = nanoseconds(ENTRIES, () =>
    kernels.stepColumns(x, weights, sums, size, layout.rows[type], k),
  )
  found[`${type}: columns by weights`] = nanoseconds(ENTRIES, () =>
    kernels.stepRows(x, weights, rooms.room(QUAD_BYTES * ROWS), size, ROWS, WIDTH, size * WIDTH),
  )
  const bytes = chance(size * ENTRIES, 9)
  found[`${type}: all, added and finished`] = nanoseconds(ENTRIES, () => {
    const matrix = new StepMatrix(new StepRooms(engine), layout)
    matrix.add('x', bytes)
    matrix.finish()
  })
}

codeAndSums('i8', 1)
codeAndSums('i32', 4)

const exact = await openExactEngine()
exact.view(exact.start, ENTRIES).set(chance(ENTRIES, 3))
found['leaves of a tree, a byte'] = nanoseconds(ENTRIES, () =>
  exact.kernels.leaves(exact.start, exact.start + ENTRIES, 1, ENTRIES),
)
found['product of 512 columns, an entry of its operand'] = nanoseconds(ENTRIES, () =>
  exact.kernels.product(exact.start, exact.start, exact.start + ENTRIES, ROWS, WIDTH, WIDTH, 1, 1, 0, 0),
)
console.table(found)
keepResult('stepCode', 'node bench/stepCode.mjs', found)
