import { readFileSync } from 'node:fs'
import { beforeAll, describe, expect, test } from 'vitest'
import type { Pointer } from '../../src/core/engine/kernels.ts'
import { createWorkKernels, WORK_OPS, type WorkKernels } from '../../src/core/work/workKernels.ts'
import { Arena, chanceFrom, type Trial, WORK_TRIALS } from '../support/workTrials.ts'

/** Ops on a memory of a few megabytes that is free from `free` on. */
export interface OpenedWorkKernels {
  readonly kernels: WorkKernels
  readonly memory: Uint8Array
  readonly free: Pointer
}

export const WORK_MEMORY = 2 ** 22
const wasmBytes = new Uint8Array(readFileSync(new URL('../../kernels/built/work.wasm', import.meta.url)))

export async function openWasmWork(): Promise<OpenedWorkKernels> {
  const { kernels, free, memory } = await createWorkKernels(wasmBytes)
  return { kernels, free, memory: new Uint8Array(memory(WORK_MEMORY)) }
}

/** What lies in the memory after a trial, and the answer. */
function run({ kernels, memory, free }: OpenedWorkKernels, arena: Arena, trial: Trial) {
  arena.fill(memory, free)
  const answer = trial(kernels)
  return { answer, after: memory.slice(free, arena.end) }
}

/** What every build of the ops of exact work must do; `cases` is how many random ones each op tries, 1 for all. */
export function workKernelsSuite(name: string, open: () => Promise<OpenedWorkKernels>, cases = 1): void {
  let opened: OpenedWorkKernels
  let wasm: OpenedWorkKernels
  beforeAll(async () => {
    opened = await open()
    wasm = await openWasmWork()
  })

  describe(`the ops of exact work in ${name}`, () => {
    test.each(WORK_OPS)('%s has the same bits as in WebAssembly', (op) => {
      for (let seed = 0; seed < Math.ceil(40 * cases); seed++) {
        const arena = new Arena(wasm.free)
        const trial = WORK_TRIALS[op](arena, chanceFrom(1000 * seed + WORK_OPS.indexOf(op)))
        expect(arena.end).toBeLessThan(WORK_MEMORY)
        const [expected, got] = [run(wasm, arena, trial), run({ ...opened, free: wasm.free }, arena, trial)]
        expect(`${seed}: ${got.answer}`).toBe(`${seed}: ${expected.answer}`)
        const differs = got.after.findIndex((byte, i) => byte !== expected.after[i])
        expect(`${seed}: ${differs}`).toBe(`${seed}: -1`)
      }
    })
  })
}
