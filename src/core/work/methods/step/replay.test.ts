import { readFileSync } from 'node:fs'
import { beforeAll, describe, expect, test } from 'vitest'
import { partOf, type TracedStep, tracedStep, turnedBytes } from '../../../../../test/support/tracedStep.ts'
import { engineOnOwned } from '../../workEngine.ts'
import { createWorkKernels } from '../../workKernels.ts'
import { type ReplaySource, replaySequence } from './replay.ts'

const wasm = readFileSync(new URL('../../../../../kernels/built/work.wasm', import.meta.url))
const open = async () => engineOnOwned(await createWorkKernels(wasm))

/** As a checker would have it from the rows that were revealed. */
function sourceOf(traced: TracedStep, sequence: number): ReplaySource {
  return {
    kept(name) {
      const { isTurned } = traced.plan.kept.get(name)!
      const { rows, width } = traced.plan.one.shapes.get(name)!
      const part = partOf(traced, name, sequence)
      return isTurned ? turnedBytes(part, rows, width) : part
    },
    given: (name) => partOf(traced, name, sequence),
  }
}

describe.each(['gpt', 'llama'] as const)('a sequence of a %s, run alone', (family) => {
  let traced: TracedStep
  beforeAll(async () => {
    traced = await tracedStep(family, open)
  })

  test('makes the very rows and columns of the whole batch', async () => {
    const engine = await open()
    for (const sequence of [0, 3]) {
      const seen = new Map<string, Uint8Array>()
      const wrong = replaySequence(engine, traced.plan, sequence, sourceOf(traced, sequence), (name, bytes) =>
        seen.set(name, bytes.slice()),
      )
      expect(wrong).toBeNull()
      expect([...seen.keys()].sort()).toEqual([...traced.plan.tied].sort())
      for (const [name, bytes] of seen) expect(bytes, name).toEqual(partOf(traced, name, sequence))
    }
  })
})
