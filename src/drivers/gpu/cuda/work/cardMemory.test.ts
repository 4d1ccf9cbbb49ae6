import { expect, test } from 'vitest'
import type { TensorShape } from '../../../../core/work/tensor.ts'
import type { CudaApi } from '../loadLibcuda.ts'
import { CardMemory } from './cardMemory.ts'

const row = (width: number): TensorShape => ({ type: 'f32', rows: 1, width })

test('bytes under two names are free when neither is left', () => {
  const memory = new CardMemory({ allocate: () => 4096n } as unknown as CudaApi)
  const { at } = memory.make('x', row(100))
  expect(memory.share('y', 'x', { type: 'f32', rows: 100, width: 1 })).toEqual({
    at,
    shape: { type: 'f32', rows: 100, width: 1 },
  })
  memory.free('x')
  expect(memory.make('z', row(100)).at).not.toBe(at)
  memory.rename('y', 'x')
  memory.free('x')
  expect(memory.make('y', row(100)).at).toBe(at)
  expect(() => memory.share('z', 'y', row(100))).toThrow('there already')
})
