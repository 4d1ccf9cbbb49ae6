import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { FakeCuda, openContexts } from '../../../../test/support/fakeCuda.ts'
import { createEngine } from '../../../core/engine/createEngine.ts'
import { kernelPath } from '../../system/kernelFiles.ts'
import { Card } from './card.ts'
import { closeAll, thenClose } from './closeAll.ts'
import type { HostMemory } from './loadLibcuda.ts'
import { Stop } from './stop.ts'

const engine = await createEngine(new Uint8Array(readFileSync(kernelPath('engine.wasm'))))

/** Gives back what it is asked to, and says once that it did not: what a lost card does. */
class Reluctant extends FakeCuda {
  refusals = 0

  override freeHost(memory: HostMemory): void {
    super.freeHost(memory)
    if (this.refusals-- > 0) throw new Error('cuMemFreeHost failed')
  }
}

describe('a card that refuses to give back', () => {
  const task = { kind: 'rounds', precision: 'int8', m: 64, n: 64, k: 64, rounds: 2 } as const
  const openReluctant = () => {
    const arena = new SharedArrayBuffer(65 * 2 ** 20)
    const api = new Reluctant(arena, engine)
    const card = new Card(
      { api, openLibrary: () => null, engine },
      { ordinal: 0, context: 'own', files: {}, keepBytes: null },
    )
    card.runSeries({ ...task, seed: new Uint8Array(32) }, () => {}, new Stop())
    return { api, arena, card }
  }

  test('is asked once for each thing it holds, and works on', () => {
    const { api, card } = openReluctant()
    api.refusals = 1
    expect(() => card.release()).toThrow('cuMemFreeHost failed')
    // The fake driver, like the real one, breaks when a graph is destroyed twice.
    card.release()
    card.runSeries({ ...task, seed: new Uint8Array(32) }, () => {}, new Stop())
    card.close()
  })

  test('is closed to the end all the same', () => {
    const { api, arena, card } = openReluctant()
    expect(openContexts(arena)).toBe(1)
    api.refusals = 1
    expect(() => card.close()).toThrow('cuMemFreeHost failed')
    expect(openContexts(arena)).toBe(0)
  })
})

test('closing tries every step and tells the first fault', () => {
  const done: number[] = []
  const step = (n: number) => () => {
    done.push(n)
    if (n > 1) throw new Error(`step ${n}`)
  }
  expect(() => closeAll([1, 2, 3].map(step))).toThrow('step 2')
  expect(done).toEqual([1, 2, 3])
})

test('a fault of the work is not hidden by a fault of closing', () => {
  const closing = () => [
    () => {
      throw new Error('closing')
    },
  ]
  const work = () => {
    throw new Error('work')
  }
  expect(() => thenClose(work, closing)).toThrow('work')
  expect(() => thenClose(() => 1, closing)).toThrow('closing')
})
