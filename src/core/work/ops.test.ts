import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { chanceFrom, sceneOf } from '../../../test/support/workTrials.ts'
import { gatherInputs } from './checkPatch.ts'
import { PLAIN_HASHER } from './engineRun.ts'
import type { Numbers } from './op.ts'
import { bitsOf } from './ops/shapes.ts'
import { type Program, shapeProgram } from './program.ts'
import { patchRunner } from './runPatch.ts'
import { leafSpan, packRegion, type TensorShape, tensorBytes } from './tensor.ts'
import { runProgram, TensorMemory } from './tensorMemory.ts'
import { engineOnOwned, hasherOn } from './workEngine.ts'
import { createWorkKernels, MASK, NO_TARGET } from './workKernels.ts'
import { EXACT_OPS } from './workOps.ts'

const wasm = readFileSync(new URL('../../../kernels/built/work.wasm', import.meta.url))
const engine = async () => engineOnOwned(await createWorkKernels(wasm))
const chance = chanceFrom(1)

const f32 = (rows: number, width: number): TensorShape => ({ type: 'f32', rows, width })
const i8 = (rows: number, width: number): TensorShape => ({ type: 'i8', rows, width })
const i32 = (rows: number, width: number): TensorShape => ({ type: 'i32', rows, width })
const u32 = (rows: number, below: number): TensorShape & { below: number } => ({ type: 'u32', rows, width: 1, below })
const draw = { key0: 7, key1: 8, tensor: 3, transition: 9 }
const seed = Object.fromEntries(Array.from({ length: 8 }, (_, i) => [`seed${i}`, 1000 + i]))
const heads = { tokens: 5, heads: 3, size: 8 }
const adam = { rate: 0.01, epsilon: 1e-8, decay: 0.1, correction1: 0.1, correction2: 0.05 }
const bits = (numbers: Numbers): Numbers =>
  Object.fromEntries(Object.entries(numbers).map(([name, value]) => [name, bitsOf(value)]))
const flow = bits({ omega: 1.2, velocityX: 0.1, velocityY: 0, velocityZ: 0, pushX: 0, pushY: 0.001, pushZ: 0 })
const sky = bits({ zenithR: 0.5, zenithG: 0.75, zenithB: 1, horizonR: 1, horizonG: 1, horizonB: 1 })
const sceneWidths = { triangles: 12, kinds: 1, materials: 8, nodes: 8, camera: 12 }
const contents = sceneOf(chanceFrom(5), 20)
const scene = Object.entries(sceneWidths).map(([name, width]) => {
  const content = contents.get(name)!
  const type = name === 'kinds' ? ('u32' as const) : ('f32' as const)
  return { type, rows: content.length / 4 / width, width, content }
})

/** Every op at least once: inputs and numbers. Shapes are odd, so that patches end early. */
const trials: [op: string, inputs: readonly (TensorShape & { content?: Uint8Array })[], numbers: Numbers][] = [
  ['product', [i8(7, 70), i8(300, 70)], {}],
  ['product', [i8(40, 70), i8(30, 70)], { row: 8, rows: 11 }],
  ['product', [i8(6 * 9, 16), i8(3 * 9, 16)], { batch: 6, shared: 2, mask: MASK.result }],
  ['product', [i8(4 * 9, 9), i8(4 * 5, 9)], { batch: 4, mask: MASK.operand }],
  ['productPieces', [i8(5, 1200), f32(5, 3), i8(6, 1200)], { piece: 512 }],
  ['productPieces', [i8(4 * 5, 200), f32(4 * 5, 4), i8(2 * 6, 200)], { piece: 64, batch: 4, shared: 2 }],
  ['rowScale', [f32(6, 700)], {}],
  ['rowScale', [f32(6, 700), f32(2, 700)], { piece: 256, rowsEach: 3 }],
  ['quantise', [f32(6, 700), f32(6, 1)], {}],
  ['quantise', [f32(6, 700), f32(6, 3), f32(2, 700)], { piece: 256, rowsEach: 3, ...draw }],
  ['quantise', [f32(6, 700), f32(6, 11), f32(2, 700)], { piece: 64, rowsEach: 3, ...draw }],
  ['dequantise', [i32(6, 700), f32(6, 1)], {}],
  ['dequantise', [i32(6, 700), f32(6, 1), f32(3, 700), f32(1, 700)], { hasColumns: 1, hasBias: 1, rowsEach: 2 }],
  ['dequantise', [i32(6, 700), f32(6, 1), f32(1, 700)], { hasBias: 1, factor: bitsOf(0.125) }],
  ...['add', 'geluBackward', 'reluBackward', 'siluProduct', 'siluProductBackwardUp'].map(
    (op): [string, TensorShape[], Numbers] => [op, [f32(3, 700), f32(3, 700)], {}],
  ),
  ['siluProductBackwardGate', [f32(3, 700), f32(3, 700), f32(3, 700)], {}],
  ['scale', [f32(3, 700)], { factor: bitsOf(0.3) }],
  ['gelu', [f32(3, 700)], {}],
  ['relu', [f32(3, 700)], {}],
  ['rowMean', [f32(5, 700)], {}],
  ['normInverse', [f32(5, 700), f32(5, 1)], { epsilon: bitsOf(1e-5) }],
  ['normInverse', [f32(5, 700)], { epsilon: bitsOf(1e-5) }],
  ['norm', [f32(5, 700), f32(5, 1), f32(1, 700), f32(5, 1), f32(1, 700)], {}],
  ['norm', [f32(5, 700), f32(5, 1), f32(1, 700)], { centred: 0 }],
  ['normBackward', [f32(5, 700), f32(5, 1), f32(1, 700), f32(5, 700), f32(5, 1)], {}],
  ['normBackward', [f32(5, 700), f32(5, 1), f32(1, 700), f32(5, 700)], { centred: 0 }],
  ['normGainTerms', [f32(5, 700), f32(5, 1), f32(5, 700), f32(5, 1)], {}],
  ['rowMaximum', [f32(12, 9)], { period: 6 }],
  ['exponentialSum', [f32(12, 9), f32(12, 1)], { period: 6 }],
  ['exponential', [f32(12, 9), f32(12, 1)], { period: 6 }],
  ['exponentialBackward', [f32(12, 9), f32(12, 9), f32(12, 1)], { period: 6 }],
  ['rowDot', [f32(5, 700), f32(5, 700)], {}],
  ['divideRows', [f32(5, 700), f32(5, 1)], {}],
  ['crossEntropy', [f32(5, 300), f32(5, 1), f32(5, 1), u32(5, 300)], {}],
  ['crossEntropyBackward', [f32(5, 300), f32(5, 1), f32(5, 1), u32(5, 300)], { factor: bitsOf(0.2) }],
  ['argmax', [f32(5, 300)], {}],
  ['rowSum', [f32(5, 5000)], {}],
  ['squareSums', [f32(37, 300)], {}],
  ['gradientNorm', [f32(1, 1), f32(1, 1), f32(1, 1)], {}],
  ['clipFactor', [f32(1, 1)], { clip: bitsOf(0.5) }],
  ['adamWFirst', [f32(3, 300), f32(3, 300), f32(1, 1)], bits({ beta1: 0.9 })],
  ['adamWSecond', [f32(3, 300), f32(3, 300), f32(1, 1)], bits({ beta2: 0.95 })],
  ['adamWWeight', [f32(3, 300), f32(3, 300), f32(3, 300)], bits(adam)],
  ['sgdVelocity', [f32(3, 300), f32(3, 300), f32(1, 1)], bits({ momentum: 0.9 })],
  ['sgdWeight', [f32(3, 300), f32(3, 300)], bits({ rate: 0.1 })],
  ['transpose', [f32(37, 50)], {}],
  ['transpose', [i8(3 * 37, 50)], { batch: 3 }],
  ['reshape', [f32(700, 1)], { width: 350 }],
  ['reshape', [f32(3, 600)], { width: 1 }],
  ['splitHeads', [f32(10, 24)], heads],
  ['joinHeads', [i8(30, 8)], heads],
  [
    'cut',
    [u32(6, 10), u32(6, 10)].slice(0, 1).map((shape) => ({ ...shape, width: 13 })),
    { column: 1, columns: 12, width: 1 },
  ],
  ['cut', [f32(6, 700)], { column: 3, columns: 600, width: 300 }],
  ['embed', [u32(9, 20), f32(20, 300), u32(9, 5), f32(5, 300)], {}],
  ['embed', [u32(9, 20), f32(20, 300)], {}],
  ['embedBackward', [u32(600, 20), i8(7, 600), f32(7, 3)], { kinds: 20, piece: 256 }],
  ['rotary', [f32(5, 3 * 16), u32(5, 100), f32(1, 8)], { heads: 3, inverse: 0 }],
  ['rotary', [f32(5, 3 * 16), u32(5, 100), f32(1, 8)], { heads: 3, inverse: 1 }],
  ['flow', [f32(12 * 19, 64), { ...u32(12, 2 ** 20), width: 64 }], { blocksX: 3, blocksY: 2, blocksZ: 2, ...flow }],
  ['flow', [f32(19, 64), { ...u32(1, 2 ** 20), width: 64 }], { blocksX: 1, blocksY: 1, blocksZ: 1, ...flow }],
  ['flowBegin', [{ ...u32(5, 2 ** 20), width: 64 }], { ...flow, noise: bitsOf(0.01), key0: 1, key1: 2 }],
  ['flowBegin', [{ ...u32(5, 2 ** 20), width: 64 }, f32(20, 64)], { ...flow, noise: 0, key0: 1, key1: 2 }],
  ['picture', scene, { width: 24, row: 1, samples: 2, bounces: 3, epsilon: bitsOf(1e-3), ...sky, key0: 1, key1: 2 }],
  ['flowFigures', [f32(12 * 19, 64)], { blocksX: 3 }],
  ['normal', [], { rows: 3, width: 700, deviation: bitsOf(0.02), mean: bitsOf(0), ...draw }],
  ['fill', [], { rows: 3, width: 700, value: bitsOf(1) }],
  ['fillWords', [], { rows: 300, width: 1, value: 77 }],
  ['zeroBytes', [], { rows: 3, width: 301 }],
  ['lastOfEach', [f32(12, 300)], { period: 4 }],
  ['put', [i8(4, 5 * 16), i8(8, 16)], { row: 0, column: 2 }],
  ['put', [{ ...u32(3, 9), width: 7 }, u32(3, 9)], { row: 1, column: 6 }],
  ['put', [i8(3, 6 * 8), i8(9, 8)], { row: 1, column: 3 }],
  ['places', [], { rows: 700, width: 1, period: 60 }],
  ['frequencies', [], { rows: 1, width: 300, half: 300, base: bitsOf(10_000) }],
  ['windowOrder', [], { epoch: 2, windows: 1000, first: 30, count: 40, ...seed }],
  ['sampleNoise', [f32(5, 300), u32(5, 9), u32(5, 90)], { factor: bitsOf(1.25), key0: 1, key1: 2 }],
]

const bytesOf = (values: ArrayBufferView) => new Uint8Array(values.buffer, values.byteOffset, values.byteLength)

function contentOf(shape: TensorShape & { readonly below?: number; readonly content?: Uint8Array }): Uint8Array {
  if (shape.content) return shape.content
  const count = shape.rows * shape.width
  if (shape.type === 'i8') return bytesOf(chance.bytes(count))
  if (shape.type === 'f32') return bytesOf(chance.floats(count).map((x) => Math.min(Math.abs(x), 8) + 2 ** -10))
  return bytesOf(chance.words(count, shape.below ?? 1000))
}

test('there is a trial for every op', () => {
  expect(new Set(trials.map(([op]) => op))).toEqual(new Set(Object.keys(EXACT_OPS)))
})

describe('each patch of an op, gathered, gives the bits of the whole', () => {
  test.each(trials)('%s %#', async (op, inputs, numbers) => {
    const on = await engine()
    const memory = new TensorMemory(on)
    const names = inputs.map((_, i) => `in ${i}`)
    const shapes = inputs.map(({ type, rows, width }) => ({ type, rows, width }))
    for (const [i, shape] of shapes.entries()) memory.write(names[i]!, shape, contentOf(inputs[i]!))
    const outputs = EXACT_OPS[op]!.outputs(shapes, numbers).map((_, i) => `out ${i}`)
    const there = new Map(shapes.map((shape, i) => [names[i]!, shape]))
    const steps = [{ op, inputs: names, outputs, numbers }]
    const program = shapeProgram(EXACT_OPS, { there, steps, after: outputs, statistics: [] } satisfies Program)
    runProgram(EXACT_OPS, memory, program)
    const step = program.shaped[0]!
    const rule = EXACT_OPS[op]!
    const runner = patchRunner(await engine(), EXACT_OPS)
    const count = rule.patches(step)
    for (let i = 0; i < Math.min(count, 64); i++) {
      const index = count <= 64 ? i : chance.whole(0, count - 1)
      const patch = rule.patch(step, index)
      const take = (name: string, shape: TensorShape) => (leaf: number) => {
        const { start, length } = leafSpan(shape, leaf)
        return memory.bytes(name).subarray(start, start + length)
      }
      const gathered = gatherInputs(program, 0, patch, take, (name) => memory.bytes(name).slice())!
      const written = patch.outputs.map((region, i) =>
        packRegion(step.outputs[i]!, region, take(outputs[i]!, step.outputs[i]!)),
      )
      expect(runner(op, patch, step, gathered), `patch ${index}`).toEqual(written)
      for (const [output, { row, column, rows, columns }] of patch.outputs.entries())
        expect(rule.patchAt(step, output, row + rows - 1, column + columns - 1)).toBe(index)
    }
  })
})

test('attack 443: what a put makes itself are the cells of its piece, and no others', () => {
  for (const [op, inputs, numbers] of trials.filter(([op]) => op === 'put')) {
    const step = { inputs, outputs: EXACT_OPS[op]!.outputs(inputs, numbers), numbers }
    const { patches, patch, fresh } = EXACT_OPS[op]!
    const { count, at } = fresh!(step)
    const all = Array.from({ length: patches(step) }, (_, index) => index)
    const written = all.filter((index) => patch(step, index).numbers.isPut === 1)
    expect(Array.from({ length: count }, (_, index) => at(index))).toEqual(written)
  }
})

test('a row that is looked up outside its table is refused', async () => {
  const [tokens, table] = [u32(1, 1), f32(4, 8)]
  const step = { inputs: [tokens, table], outputs: [f32(1, 8)], numbers: {} }
  const patch = EXACT_OPS.embed!.patch(step, 0)
  const shapes = new Map(
    [...['tokens', 'table', 'out'].entries()].map(([i, name]) => [name, [tokens, table, f32(1, 8)][i]!]),
  )
  const program = { steps: [{ op: 'embed', inputs: ['tokens', 'table'], outputs: ['out'], numbers: {} }], shapes }
  const take = (name: string) => () => bytesOf(name === 'tokens' ? Uint32Array.of(4) : new Float32Array(8))
  expect(
    gatherInputs({ ...program, shaped: [], there: new Map(), after: [], statistics: [] }, 0, patch, take),
  ).toBeNull()
  expect(NO_TARGET).toBe(0xffffffff)
})

test('trees by the kernels are those of the text', async () => {
  const hasher = hasherOn(await engine())
  const small = [f32(1, 1), f32(3, 700), i8(9, 1024), i8(5, 1025), i8(3, 63), f32(16, 256), i8(2, 55)]
  // More than is hashed at a time: in one row, and in many.
  for (const shape of [...small, i8(2, 2 ** 18 + 1500), f32(1500, 50)]) {
    const bytes = contentOf(shape)
    expect(bytes.length).toBe(tensorBytes(shape))
    expect(hasher.root(shape, bytes)).toEqual(PLAIN_HASHER.root(shape, bytes))
    const leaves = [0, 1, 2].filter((leaf) => leaf < shape.rows)
    expect(hasher.tree(shape, bytes).prove(leaves)).toEqual(PLAIN_HASHER.tree(shape, bytes).prove(leaves))
    const [under, same] = [hasher, PLAIN_HASHER].map((by) => by.levelsUnder(shape, bytes, 2, 1))
    expect(under).toEqual(same)
  }
})
