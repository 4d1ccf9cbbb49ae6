import { mix32 } from '../proof/mix32.ts'
import type { Parameter } from './parameterLayout.ts'

/** A parameter as it is before any training, the same for the same seed everywhere. Uniform: only the variance matters. */
export function freshParameter({ length, offset, start }: Parameter, seed: number): Float32Array {
  const values = new Float32Array(length)
  if ('value' in start) return values.fill(start.value)
  const width = 2 * Math.sqrt(3) * start.spread
  const key = mix32(seed >>> 0)
  for (let i = 0; i < length; i++) values[i] = (mix32((offset + i) ^ key) / 2 ** 32 - 0.5) * width
  return values
}
