import { type Heads, queryScales, weigh } from '../../model/attention.ts'
import type { Quantised } from '../../model/layers.ts'
import type { ProgramBuilder } from '../../programBuilder.ts'
import type { TensorShape } from '../../tensor.ts'
import type { Model } from './weights.ts'

const PARTS = ['keys', 'keyScales', 'values', 'valueScales'] as const

export type Cache = Readonly<Record<(typeof PARTS)[number], string>>

/** The cache of layer i, by the names of its tensors. */
export const cacheOf = (i: number): Cache => ({
  ...{ keys: `${i}.keys`, keyScales: `${i}.keyScales`, values: `${i}.values`, valueScales: `${i}.valueScales` },
})

export const cacheParts = (cache: Cache): readonly string[] => PARTS.map((part) => cache[part])

/** W9.2. A row for each sequence and head of keys: its places side by side. */
export function cacheTensors(
  { layers, keyHeads, headSize }: Model,
  sequences: number,
  places: number,
): ReadonlyMap<string, TensorShape> {
  const rows = sequences * keyHeads
  const bytes: TensorShape = { type: 'i8', rows, width: places * headSize }
  const scales: TensorShape = { type: 'f32', rows, width: places }
  const shapes = [bytes, scales, bytes, scales]
  return new Map(
    Array.from({ length: layers }, (_, i) =>
      cacheParts(cacheOf(i)).map((name, at) => [name, shapes[at]!] as const),
    ).flat(),
  )
}

/** The cache with keys and values of places from `place` on. */
export function remember(p: ProgramBuilder, before: Cache, k: Quantised, v: Quantised, place: number): Cache {
  const put = (base: string, piece: string) => p.step('put', [base, piece], { row: 0, column: place })
  return {
    ...{ keys: put(before.keys, k.q), keyScales: put(before.keyScales, k.scales) },
    ...{ values: put(before.values, v.q), valueScales: put(before.valueScales, v.scales) },
  }
}

/** W9.3.4. One query for each head sees the first `seen` places of the cache. Heads side by side again. */
export function attendCache(p: ProgramBuilder, shape: Heads, q: Quantised, cache: Cache, seen: number): string {
  const { sequences, heads, keyHeads, size } = shape
  const shared = heads / keyHeads
  const batch = { batch: sequences * heads, shared }
  const rowsOf = (bytes: string) => p.step('cut', [bytes], { column: 0, columns: seen * size, width: size })
  const scalesOf = (scales: string) => p.step('cut', [scales], { column: 0, columns: seen, width: seen })
  const sums = p.step('product', [q.q, rowsOf(cache.keys)], batch)
  const columns = scalesOf(cache.keyScales)
  const numbers = { hasColumns: 1, rowsEach: shared }
  const scores = p.step('dequantise', [sums, queryScales(p, shape, q), columns], numbers)
  const values = p.step('transpose', [rowsOf(cache.values)], { batch: sequences * keyHeads })
  const { rows } = weigh(p, { scores, fold: scalesOf(cache.valueScales), values, rowsEach: shared }, batch)
  return p.step('joinHeads', [rows], { tokens: 1, heads, size })
}
