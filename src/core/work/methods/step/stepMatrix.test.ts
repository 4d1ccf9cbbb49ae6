import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { nativeLibraries } from '../../../../../test/support/nativeLibraries.ts'
import { chanceFrom } from '../../../../../test/support/workTrials.ts'
import { stepEngineOnOwned } from '../../workEngine.ts'
import { createWorkKernels } from '../../workKernels.ts'
import { coordinatesOf } from '../sumcheck/evaluate.ts'
import { checkOpening } from './checkOpening.ts'
import { type KeptTensor, layoutOf, spellLayout } from './stepLayout.ts'
import { StepMatrix } from './stepMatrix.ts'
import { type StepEngine, StepRooms } from './stepRooms.ts'
import { StepTranscript } from './stepTranscript.ts'

const wasmBytes = new Uint8Array(readFileSync(new URL('../../../../../kernels/built/work.wasm', import.meta.url)))
const wasm = stepEngineOnOwned(await createWorkKernels(wasmBytes))
const MEMORY = 2 ** 25
const native = (await nativeLibraries()).map(({ file, native }): [string, StepEngine] => {
  const memory = new Uint8Array(MEMORY)
  const reserve = (end: number) => expect(end).toBeLessThan(MEMORY)
  const view = (at: number, bytes: number) => memory.subarray(at, at + bytes)
  return [file, { kernels: native.stepOn(memory), start: 64, view, reserve }]
})
const engines: readonly (readonly [string, StepEngine])[] = [['WebAssembly', wasm], ...native]

const TENSORS: readonly KeptTensor[] = [
  { name: 'a', type: 'i8', rows: 70, width: 24 },
  { name: 'c', type: 'i32', rows: 33, width: 16 },
  { name: 'b', type: 'i8', rows: 64, width: 32 },
  { name: 'd', type: 'i32', rows: 5, width: 3 },
]

function opened(engine: StepEngine, tensors: readonly KeptTensor[], seed: number) {
  const chance = chanceFrom(seed)
  const layout = layoutOf(tensors)
  const matrix = new StepMatrix(new StepRooms(engine), layout)
  const bytes = tensors.map(({ type, rows, width }) => {
    const made = new Uint8Array(chance.bytes(rows * width * (type === 'i8' ? 1 : 4)).buffer)
    return made
  })
  for (const [i, { name }] of tensors.entries()) matrix.add(name, bytes[i]!)
  const root = matrix.finish()
  const transcript = () => new StepTranscript(spellLayout(layout), root)
  const points = transcript().draw(16)
  const claims = tensors.flatMap(({ name, rows, width }) =>
    [0, 1].map((i) => {
      const row = points.slice(i, i + coordinatesOf(rows))
      const column = points.slice(3 - i, 3 - i + coordinatesOf(width))
      return { name, row, column, value: matrix.valueAt(name, row, column) }
    }),
  )
  const reveals = [{ name: 'a', row: 3, rows: 20 }]
  const proof = matrix.open(claims, reveals, transcript())
  return { layout, root, claims, reveals, transcript, proof, bytes }
}

describe.each(engines)('a matrix of a step, on %s', (_, engine) => {
  test('is opened', () => {
    const { layout, root, claims, reveals, transcript, proof, bytes } = opened(engine, TENSORS, 1)
    const found = checkOpening(engine, layout, root, claims, reveals, transcript(), proof)
    expect(found).toEqual({ revealed: [bytes[0]!.slice(3 * 24, 23 * 24)] })
  })
})
