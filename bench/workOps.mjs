#!/usr/bin/env node
// The ops of exact work in every build, on one core, by processor time: other work on the machine does not pass for ours.
// Run `node scripts/build.mjs` first, then `node bench/workOps.mjs`. Results go to bench/results/workOps.json.
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { createWorkKernels } from '../dist/core/work/workKernels.js'
import { loadNativeKernels } from '../dist/drivers/system/nativeKernels.js'
import { keepResult } from './support/keepResult.mjs'

const MEGABYTE = 2 ** 20
const MEMORY = 128 * MEGABYTE
const built = (name) => new URL(`../kernels/built/${name}`, import.meta.url)

async function openWasm() {
  const { kernels, memory, free } = await createWorkKernels(readFileSync(built('work.wasm')))
  return { kernels, memory: new Uint8Array(memory(MEMORY)), start: free }
}

async function openNative(file) {
  const native = await loadNativeKernels(fileURLToPath(built(file)))
  const memory = new Uint8Array(MEMORY + 64)
  return native.supported ? { kernels: native.workOn(memory), memory, start: 64 } : null
}

/** Processor seconds of the best of five turns. */
function best(work) {
  work()
  let least = Number.POSITIVE_INFINITY
  for (let turn = 0; turn < 5; turn++) {
    const before = process.cpuUsage()
    for (let i = 0; i < 4; i++) work()
    const { user, system } = process.cpuUsage(before)
    least = Math.min(least, (user + system) / 4e6)
  }
  return least
}

/** [what, how many multiply-adds or elements, the call]; the middle part of the memory holds floats, the first bytes. */
function calls(k, at) {
  const [rows, width] = [1024, 1024]
  const n = rows * width
  const [a, b, out, x, y, s, t] = [0, 8, 16, 32, 48, 64, 65].map(at)
  return [
    ['product 512 x 768 x 768', 512 * 768 * 768, () => k.product(a, b, out, 512, 768, 768, 1, 1, 0, 0)],
    ['product 1024 x 1024 x 4096', 1024 * 1024 * 4096, () => k.product(a, b, out, 1024, 1024, 4096, 1, 1, 0, 0)],
    ['64 products 128 x 128 x 64', 64 * 128 * 128 * 64, () => k.product(a, b, out, 128, 128, 64, 64, 1, 0, 0)],
    ['product 1 x 4096 x 1024', 4096 * 1024, () => k.product(a, b, out, 1, 4096, 1024, 1, 1, 0, 0)],
    ['rowScale', n, () => k.rowScale(x, 0, s, rows, width, width, 0, rows)],
    ['quantise', n, () => k.quantise(x, 0, s, out, rows, width, width, 0, rows)],
    [
      'quantiseStochastic',
      n,
      () => k.quantiseStochastic(x, 0, s, out, rows, width, width, 0, rows, 1, 2, 3, 4, 0, width),
    ],
    ['dequantise', n, () => k.dequantise(a, s, y, y, out, rows, width, 0, rows, 1)],
    ['add', n, () => k.add(x, y, out, n)],
    ['gelu', n, () => k.gelu(x, out, n)],
    ['geluBackward', n, () => k.geluBackward(x, y, out, n)],
    ['rowMean', n, () => k.rowMean(x, t, rows, width)],
    ['norm', n, () => k.norm(x, t, s, y, y, out, rows, width)],
    ['normBackward', n, () => k.normBackward(x, t, s, y, y, out, rows, width)],
    ['exponentialSum', n, () => k.exponentialSum(x, t, s, rows, width, 0, 0)],
    ['exponential', n, () => k.exponential(x, t, out, rows, width, 0, 0)],
    ['exponentialBackward', n, () => k.exponentialBackward(x, y, t, out, rows, width, 0, 0)],
    ['adamWWeight', n, () => k.adamWWeight(x, y, y, out, n, 1e-3, 1e-8, 0.1, 0.5, 0.5)],
    ['transposeFloats', n, () => k.transposeFloats(x, out, rows, width, 0, width)],
    ['normal', n, () => k.normal(out, n, 0.02, 0, 1, 2, 3, 4, 0)],
    ['sampleNoise', n, () => k.sampleNoise(x, t, t, out, rows, width, 0, 1, 1, 2)],
  ]
}

const figures = {}
for (const [name, open] of [
  ['WebAssembly', openWasm],
  ['AVX2', () => openNative('native-avx2.so')],
  ['AVX-512', () => openNative('native-avx512.so')],
]) {
  const opened = await open()
  if (!opened) continue
  const at = (megabytes) => opened.start + megabytes * MEGABYTE
  for (let i = 0; i < 16 * MEGABYTE; i++) opened.memory[at(0) + i] = (Math.imul(i, 2654435761) >>> 24) % 255
  const floats = new Float32Array(opened.memory.buffer, at(32), (34 * MEGABYTE) / 4)
  for (let i = 0; i < floats.length; i++) floats[i] = (Math.imul(i, 2654435761) >>> 8) / 2 ** 22 + 1e-3
  for (const [what, count, call] of calls(opened.kernels, at)) {
    const billions = Math.round(count / best(call) / 1e7) / 100
    figures[what] = { ...figures[what], [name]: billions }
  }
}
console.log('10^9 multiply-adds, or elements, a second of one core')
console.table(figures)
keepResult('workOps', 'node bench/workOps.mjs', { unit: '10^9 multiply-adds or elements a second', figures })
