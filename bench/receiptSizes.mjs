#!/usr/bin/env node
import { issueReceipt } from '../dist/core/certificate/receiptEvidence.js'
import { showPatch } from '../dist/core/work/checkPatch.js'
// How many bytes receipts of real size have, the largest of some draws: leaves and hashes as whoever works would open them,
// all of them zeros, since nothing of the size depends on what they say. No work is done (`node bench/receiptSizes.mjs`).
import { inference } from '../dist/core/work/kinds/inference/inference.js'
import { flowParameters, simulation } from '../dist/core/work/kinds/simulation/simulation.js'
import { training } from '../dist/core/work/kinds/training/training.js'
import { bitsOf } from '../dist/core/work/ops/shapes.js'
import { proveWork } from '../dist/core/work/proveWork.js'
import { leafSpan, leavesOf } from '../dist/core/work/tensor.js'
import { depthOf, proofBytes } from '../dist/core/work/tensorTree.js'
import { openWork, segmentPrograms } from '../dist/core/work/work.js'
import { WORK_KINDS } from '../dist/core/work/workKinds.js'
import { EXACT_OPS } from '../dist/core/work/workOps.js'
import { encodeSpec } from '../dist/core/work/workSpec.js'
import { keepResult } from './support/keepResult.mjs'

const HASH = 32
/** Draws that are tried: a receipt is as large as what is drawn. */
const DRAWS = 32
const epsilon = bitsOf(1e-5)
const shape = { layers: 24, width: 2048, heads: 16, keyHeads: 16, headSize: 128, hidden: 8192 }
const large = { family: 'gpt', ...shape, vocabulary: 256, context: 1024, hasQkvBias: true, isTied: false }
const adam = { beta1: 0.9, beta2: 0.95, epsilon: 1e-8, decay: 0.1, clip: 1 }
const optimiser = Object.fromEntries(Object.entries(adam).map(([key, value]) => [key, bitsOf(value)]))
const seven = {
  ...{ family: 'llama', layers: 32, width: 4096, heads: 32, keyHeads: 32, headSize: 128, hidden: 11_008 },
  ...{ vocabulary: 32_000, context: 4096, rotaryBase: bitsOf(10_000), hasQkvBias: false, epsilon },
}
const trained = (sequences) => ({
  kind: training,
  transitions: 1000,
  interval: 1,
  parameters: {
    model: { ...large, rotaryBase: bitsOf(10_000) },
    ...{ sequences, tokens: 1024, windows: 65_536, start: 'fresh' },
    optimiser: { name: 'adamW', ...optimiser, rates: [[0, bitsOf(3e-4)]] },
  },
})
const WORKS = {
  'training, 1.2B parameters, 16 sequences of 1,024, 1,000 transitions': trained(16),
  'training, 1.2B parameters, 64 sequences of 1,024, 1,000 transitions': trained(64),
  'simulation, 256^3 cells, 10,000 transitions': {
    kind: simulation,
    transitions: 10_000,
    interval: 256,
    parameters: flowParameters({ cells: [256, 256, 256], viscosity: 0.02, velocity: [0.08, 0, 0], noise: 0.001 }),
  },
  'inference, 7B parameters, a prompt of 2,048, 256 tokens': {
    kind: inference,
    transitions: 256,
    interval: 8,
    parameters: { model: seven, lengths: [2048], total: 2304, shown: 8, sampling: null },
  },
}

/** Whoever worked, if all bytes were zeros. */
const nothing = (work) => ({
  trace(segment) {
    const state = segment < 0 || work.isIndependent ? 0 : work.state.size
    const made = segmentPrograms(work, segment).flatMap(({ shaped }) => shaped.flatMap(({ outputs }) => outputs))
    // Every segment has draws of its own.
    return Array.from({ length: state + made.length }, () => new Uint8Array(HASH).fill(segment + 2))
  },
  open(segment, draws) {
    const programs = segmentPrograms(work, segment)
    return draws.map(({ transition, step, patch }) => {
      const program = programs[transition]
      const sizes = { leaves: 0, proof: 0 }
      const op = program.steps[step].op
      const where = EXACT_OPS[op].patch(program.shaped[step], patch)
      showPatch(program, step, where, (_, of, leaves, shown) => {
        sizes.proof += proofBytes(depthOf(leavesOf(of)), leaves)
        for (const leaf of shown) sizes.leaves += leafSpan(of, leaf).length
        return (leaf) => new Uint8Array(leafSpan(of, leaf).length)
      })
      return { leaves: new Uint8Array(sizes.leaves), proof: new Uint8Array(sizes.proof), op }
    })
  },
})

const sum = (values) => values.reduce((total, value) => total + value, 0)
/** The ops whose patches take most bytes. */
function largestOps(patches) {
  const bytes = {}
  for (const { op, leaves, proof } of patches) bytes[op] = (bytes[op] ?? 0) + leaves.length + proof.length
  const ops = Object.entries(bytes).sort((a, b) => b[1] - a[1])
  return Object.fromEntries(ops.slice(0, 4))
}

const figures = {}
for (const [name, { kind, parameters, transitions, interval }] of Object.entries(WORKS)) {
  const given = kind.given(kind.parameters.parse(parameters))
  const inputs = [...given.keys()].map((input) => ({ name: input, uri: '', root: '00'.repeat(HASH) }))
  const spec = encodeSpec({ kind: kind.name, version: 1, parameters, inputs, transitions, interval })
  const order = { text: spec, orderId: new Uint8Array(HASH), seed: new Uint8Array(HASH).fill(1) }
  const work = openWork(WORK_KINDS, EXACT_OPS, order)
  const figuresOf = segmentPrograms(work, 0).at(-1)
  const words = sum(
    figuresOf.statistics.map((stat) => figuresOf.shapes.get(stat)).map(({ rows, width }) => rows * width),
  )
  const statistics = Array(words).fill(0)
  const executed = {
    firstRoot: new Uint8Array(HASH),
    marks: work.ends.map((transition) => ({ transition, root: new Uint8Array(HASH), statistics })),
  }
  const at = '2026-01-01T00:00:00.000Z'
  const said = { program: 'touchstone', device: 'NVIDIA H200', startedAt: at, issuedAt: at, notAfter: at }
  const signer = { publicKey: new Uint8Array(HASH), sign: () => new Uint8Array(64) }
  const receipts = []
  for (let i = 0; i < DRAWS; i++) {
    const proven = await proveWork(work, executed, nothing(work), (draw) => new Uint8Array(HASH).fill(2 * i + draw))
    const receipt = { ...executed, ...proven, ...said, ...order, spec, workId: work.workId }
    const file = issueReceipt(
      { ...receipt, proverKey: new Uint8Array(HASH), drawnBy: 'listener', elapsedUs: 1 },
      signer,
    )
    receipts.push({ bytes: file.length, segments: [...proven.segments.values()] })
  }
  receipts.sort((a, b) => a.bytes - b.bytes)
  const { bytes, segments } = receipts.at(-1)
  const patches = segments.flatMap((segment) => segment.patches)
  figures[name] = {
    receiptBytes: bytes,
    medianBytes: receipts[DRAWS / 2].bytes,
    segments: segments.length,
    patches: patches.length,
    traceBytes: sum(segments.map(({ trace }) => trace.length)),
    marksBytes: (HASH + 4 * words) * work.ends.length,
    leavesBytes: sum(patches.map(({ leaves }) => leaves.length)),
    proofBytes: sum(patches.map(({ proof }) => proof.length)),
    largest: largestOps(patches),
  }
  console.log(name, figures[name])
}
keepResult('receiptSizes', 'node bench/receiptSizes.mjs', figures)
