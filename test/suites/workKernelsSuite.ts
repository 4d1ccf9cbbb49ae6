import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { beforeAll, describe, expect, test } from 'vitest'
import { fromHex, toHex } from '../../src/core/bytes/hex.ts'
import type { Pointer } from '../../src/core/engine/kernels.ts'
import { entryRow } from '../../src/core/proof/entries.ts'
import {
  createWorkKernels,
  MASK,
  NONE,
  WORK_ARGUMENTS,
  WORK_OPS,
  type WorkKernels,
} from '../../src/core/work/workKernels.ts'
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

type Put =
  | [at: number, hex: string]
  | [at: number, seed: string, precision: 'int8' | 'fp32', count: number, exponent: number]

/** A call, what lies in the memory before it, and what it leaves: test/independent/work_vectors.py. */
interface Vector {
  readonly op: keyof WorkKernels
  readonly arguments: readonly number[]
  readonly before: readonly Put[]
  readonly after: readonly [at: number, hexOrLength: string | number, sha256?: string]
  readonly answer: number
}

const VECTORS: readonly Vector[] = JSON.parse(readFileSync(new URL('../vectors/work.json', import.meta.url), 'utf8'))

function bytesOf([, data, precision, count = 0, exponent = 0]: Put): Uint8Array {
  if (precision === undefined) return fromHex(data, data.length / 2)!
  const entries = entryRow(fromHex(data, 32)!, 0, precision, 0, count)
  return precision === 'int8'
    ? new Uint8Array(Int8Array.from(entries).buffer)
    : new Uint8Array(Float32Array.from(entries, (x) => x * 2 ** exponent).buffer)
}

/** What lies in the memory after a trial, and the answer. */
function run({ kernels, memory, free }: OpenedWorkKernels, arena: Arena, trial: Trial) {
  arena.fill(memory, free)
  const answer = trial(kernels)
  return { answer, after: memory.slice(free, arena.end) }
}

/** Random calls of every op, in a build and in WebAssembly; `cases` of each. */
export function sameAsWasmSuite(name: string, open: () => Promise<OpenedWorkKernels>, cases = 40): void {
  let opened: OpenedWorkKernels
  let wasm: OpenedWorkKernels
  beforeAll(async () => {
    ;[opened, wasm] = await Promise.all([open(), openWasmWork()])
  })

  describe(`the ops of exact work in ${name}`, () => {
    test.each(WORK_OPS)('%s has the same bits as in WebAssembly', (op) => {
      for (let seed = 0; seed < cases; seed++) {
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

/** What every build of the ops of exact work must do. */
export function workKernelsSuite(name: string, open: () => Promise<OpenedWorkKernels>): void {
  let opened: OpenedWorkKernels
  beforeAll(async () => {
    opened = await open()
  })

  describe(`the ops of exact work in ${name}`, () => {
    test('every op leaves what the independent implementation says', () => {
      for (const [i, vector] of VECTORS.entries()) {
        const { kernels, memory, free } = opened
        const arena = new Arena(free)
        for (const put of vector.before) arena.putAt(free + put[0], bytesOf(put))
        arena.fill(memory, free)
        const letters = [...WORK_ARGUMENTS[vector.op]]
        const args = vector.arguments.map((value, at) => (letters[at] === 'o' && value !== NONE ? free + value : value))
        expect(args.length).toBe(letters.length)
        const call = kernels[vector.op] as (...args: readonly number[]) => number
        const answer = call(...args)
        const [at, second, hash] = vector.after
        const length = typeof second === 'number' ? second : second.length / 2
        const left = memory.slice(free + at, free + at + length)
        const found = hash === undefined ? toHex(left) : createHash('sha256').update(left).digest('hex')
        expect(`${i} ${vector.op}: ${answer} ${found}`).toBe(`${i} ${vector.op}: ${vector.answer} ${hash ?? second}`)
      }
      expect(new Set(VECTORS.map(({ op }) => op))).toEqual(new Set(WORK_OPS))
    })

    /** The bytes that calls leave in rooms asked for in turn, over tensors put before. */
    const bytesFrom = (size: number, call: (put: Arena['put'], out: Pointer) => void): string => {
      const { memory, free } = opened
      const arena = new Arena(free)
      const put: Arena['put'] = (values) => {
        const at = arena.put(values)
        memory.set(new Uint8Array(values.buffer, values.byteOffset, values.byteLength), at)
        return at
      }
      const out = arena.room(size)
      memory.fill(0, out, out + size)
      call(put, out)
      return toHex(memory.slice(out, out + size))
    }

    const floatsFrom = (count: number, call: (put: Arena['put'], out: Pointer) => number): Float32Array => {
      const hex = bytesFrom(4 * count, (put, out) => expect(call(put, out)).toBe(0))
      return new Float32Array(fromHex(hex, 4 * count)!.buffer)
    }

    describe('keeps the errors that W2.3.6 states', () => {
      const between = (from: number, to: number, count = 20_000) =>
        Float32Array.from({ length: count }, (_, i) => from + ((to - from) * (i + 0.5)) / count)
      const ulp = (y: number) => 2 ** (Math.max(Math.floor(Math.log2(Math.abs(y))), -126) - 23)
      const logistic = (x: number) => 1 / (1 + Math.exp(-x))
      const inner = (x: number) => 2 * Math.sqrt(2 / Math.PI) * (x + 0.044715 * x ** 3)
      const gelu = (x: number) => x * logistic(inner(x))
      const slope = (x: number) => {
        const s = logistic(inner(x))
        return s + x * s * (1 - s) * 2 * Math.sqrt(2 / Math.PI) * (1 + 3 * 0.044715 * x * x)
      }
      const silu = (x: number) => x * logistic(x)
      const siluSlope = (x: number) => logistic(x) * (1 + x * (1 - logistic(x)))
      const ones = (count: number) => new Float32Array(count).fill(1)
      const zeros = (count: number) => new Float32Array(count)
      type Ways = Readonly<Record<string, (x: Float32Array) => Float32Array>>
      const found: Ways = {
        exp: (x) =>
          floatsFrom(x.length, (put, out) =>
            opened.kernels.exponentialSum(put(x), put(zeros(x.length)), out, x.length, 1, 0, 0),
          ),
        log: (x) =>
          floatsFrom(x.length, (put, out) => {
            const none = put(zeros(x.length))
            return opened.kernels.crossEntropy(none, none, put(x), none, out, x.length, 1)
          }),
        gelu: (x) => floatsFrom(x.length, (put, out) => opened.kernels.gelu(put(x), out, x.length)),
        slope: (x) =>
          floatsFrom(x.length, (put, out) => opened.kernels.geluBackward(put(x), put(ones(x.length)), out, x.length)),
        silu: (x) =>
          floatsFrom(x.length, (put, out) => opened.kernels.siluProduct(put(x), put(ones(x.length)), out, x.length)),
        siluSlope: (x) =>
          floatsFrom(x.length, (put, out) => {
            const one = put(ones(x.length))
            return opened.kernels.siluProductBackwardGate(put(x), one, one, out, x.length)
          }),
      }
      test.each([
        ['exp', Math.exp, -87, 88, 1, true],
        ['log', Math.log, 2 ** -20, 4, 1, true],
        ['log', Math.log, 4, 3e38, 1, true],
        ['gelu', gelu, 0, 10, 2, true],
        ['gelu', gelu, -10, 0, 1e-6, false],
        ['slope', slope, -10, 10, 1e-6, false],
        ['silu', silu, -80, 80, 3, true],
        ['siluSlope', siluSlope, -80, 80, 1e-6, false],
      ] as const)('%s', (name, exact, from, to, bound, inUlps) => {
        const x = between(from, to)
        const y = found[name]!(x)
        const errors = x.map((value, i) => Math.abs(y[i]! - exact(value)) / (inUlps ? ulp(exact(value)) : 1))
        const worst = errors.reduce((a, b) => Math.max(a, b))
        expect(worst).toBeLessThanOrEqual(bound)
        expect(worst).toBeGreaterThan(bound / 100)
      })

      test('angles of a rotary embedding, the largest position of the largest model among them', () => {
        const positions = Uint32Array.from({ length: 2000 }, (_, i) => (i * 65_537) % 131_072)
        const x = Float32Array.from({ length: 4000 }, (_, i) => 1 - (i % 2))
        const turned = floatsFrom(4000, (put, out) =>
          opened.kernels.rotary(put(x), put(positions), put(Float32Array.of(0.7)), out, 2000, 1, 2, 0),
        )
        for (const [i, position] of positions.entries()) {
          const angle = Math.fround(position * Math.fround(0.7))
          expect(turned[2 * i]).toBe(Math.fround(Math.cos(angle)))
          expect(turned[2 * i + 1]).toBe(Math.fround(Math.sin(angle)))
        }
      })
    })

    describe('gives a range the bits that it has in the whole', () => {
      const chance = chanceFrom(77)
      const [rows, width] = [12, 45]
      const count = rows * width
      const x = chance.floats(count)
      const folds = chance.floats(4 * width, 1).map((value) => Math.abs(value) + 0.1)
      const scales = Float32Array.from({ length: rows }, () => 0.05)
      const targets = chance.words(rows, width)
      const bytes = chance.bytes(rows * 64)
      const indices = Uint32Array.from({ length: rows }, (_, i) => i)
      type Ranges = Readonly<Record<string, readonly [number, (put: Arena['put'], out: Pointer, cuts: Cuts) => void]>>
      /** Calls the function with the beginning and length of every range. */
      type Cuts = (total: number, range: (from: number, count: number) => void) => void
      const ranges: Ranges = {
        ...Object.fromEntries(
          Object.entries(MASK).map(([name, mask]) => [
            `rows of a product, mask ${name}`,
            [
              4 * rows * rows,
              (put: Arena['put'], out: Pointer, cuts: Cuts) => {
                const a = put(bytes)
                cuts(rows, (from, n) =>
                  opened.kernels.product(a + 64 * from, a, out + 4 * rows * from, n, rows, 64, 1, 1, mask, from),
                )
              },
            ] as const,
          ]),
        ),
        'rows of a stochastic rounding with folds': [
          count,
          (put, out, cuts) => {
            const [from, fold, s] = [put(x), put(folds), put(scales)]
            cuts(rows, (r, n) =>
              opened.kernels.quantiseStochastic(
                from + 4 * width * r,
                fold,
                s + 4 * r,
                out + width * r,
                n,
                width,
                width,
                r,
                3,
                1,
                2,
                3,
                4,
                2 ** 40 + width * r,
                width,
              ),
            )
          },
        ],
        'exponentials of rows that see a part': [
          4 * count,
          (put, out, cuts) => {
            const [from, top] = [put(x), put(scales)]
            cuts(rows, (r, n) => {
              const at = 4 * width * r
              opened.kernels.exponential(from + at, top + 4 * r, out + at, n, width, 5, r)
            })
          },
        ],
        'columns of a loss': [
          4 * rows * width,
          (put, out, cuts) => {
            const [from, top, sum, target] = [put(x), put(scales), put(scales), put(targets)]
            for (let r = 0; r < rows; r++)
              cuts(width, (c, n) => {
                const at = 4 * (width * r + c)
                const row = [top + 4 * r, sum + 4 * r, target + 4 * r] as const
                opened.kernels.crossEntropyBackward(from + at, ...row, out + at, 1, n, c, 1)
              })
          },
        ],
        'columns of a sum': [
          4 * width,
          (put, out, cuts) => {
            const from = put(x)
            cuts(width, (c, n) => opened.kernels.columnSum(from, out + 4 * c, rows, width, c, n))
          },
        ],
        'rows of a transposed tensor': [
          4 * count,
          (put, out, cuts) => {
            const from = put(x)
            cuts(width, (c, n) => opened.kernels.transposeFloats(from, out + 4 * rows * c, rows, width, c, n))
          },
        ],
        'fresh weights': [
          4 * count,
          (_, out, cuts) =>
            cuts(count, (i, n) => opened.kernels.normal(out + 4 * i, n, 1, 2, 3, 4, 5, 6, 2 ** 33 - 50 + i)),
        ],
        'the order of windows': [
          4 * 100,
          (put, out, cuts) => {
            const seed = put(chanceFrom(3).words(8))
            cuts(100, (i, n) => opened.kernels.windowOrder(seed, out + 4 * i, 1, 1000, i, n))
          },
        ],
        'columns of the noise of a sample': [
          4 * count,
          (put, out, cuts) => {
            const [from, at] = [put(x), put(indices)]
            for (let r = 0; r < rows; r++)
              cuts(width, (c, n) => {
                const place = 4 * (width * r + c)
                opened.kernels.sampleNoise(from + place, at, at + 4 * r, out + place, 1, n, c, 1, 8, 9)
              })
          },
        ],
        'channels of the gradient of embeddings': [
          4 * 5 * 20,
          (put, out, cuts) => {
            const [tokens, q, s, scratch] = [
              put(targets.map((t) => t % 5)),
              put(chanceFrom(4).bytes(20 * rows)),
              put(chanceFrom(5).floats(20, 1)),
              put(new Int32Array(80)),
            ]
            cuts(20, (c, n) =>
              opened.kernels.embedBackward(tokens, q + rows * c, s + 4 * c, scratch, out, rows, 5, 20, c, n, rows),
            )
          },
        ],
      }
      test.each(Object.entries(ranges))('%s', (_, [size, call]) => {
        const whole = bytesFrom(size, (put, out) => call(put, out, (total, range) => range(0, total)))
        const thirds: Cuts = (total, range) => {
          const cut = Math.ceil(total / 3)
          for (let from = 0; from < total; from += cut) range(from, Math.min(cut, total - from))
        }
        expect(bytesFrom(size, (put, out) => call(put, out, thirds))).toBe(whole)
        expect(whole).toMatch(/[1-9a-f]/)
        if (size === 4 * count) {
          const ones: Cuts = (total, range) => {
            for (let from = 0; from < total; from++) range(from, 1)
          }
          expect(bytesFrom(size, (put, out) => call(put, out, ones))).toBe(whole)
        }
      })
    })

    test('the largest sums of a product fit', () => {
      const [k, rows] = [131_072, 9]
      const ends = bytesFrom(8 * rows * rows, (put, out) => {
        const [up, down] = [put(new Int8Array(rows * k).fill(127)), put(new Int8Array(rows * k).fill(-127))]
        opened.kernels.product(up, up, out, rows, rows, k, 1, 1, 0, 0)
        opened.kernels.product(up, down, out + 4 * rows * rows, rows, rows, k, 1, 1, 0, 0)
      })
      const sums = new Int32Array(fromHex(ends, 8 * rows * rows)!.buffer)
      expect(new Set(sums)).toEqual(new Set([k * 127 * 127, -k * 127 * 127]))
    })

    test.each([1, 2, 3, 4, 5, 15, 16, 17, 64, 65, 1000])('the order of %d windows has each of them once', (windows) => {
      const order = bytesFrom(4 * windows, (put, out) => {
        expect(opened.kernels.windowOrder(put(chanceFrom(9).words(8)), out, 7, windows, 0, windows)).toBe(0)
      })
      const places = new Uint32Array(fromHex(order, 4 * windows)!.buffer)
      expect([...places].sort((a, b) => a - b)).toEqual(Array.from({ length: windows }, (_, i) => i))
    })

    describe('says that something is a fault', () => {
      const bad = [Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY]
      const one = (value: number) => Float32Array.of(1, value, 1, 1)
      const two = Float32Array.of(1, 1, 1, 1)
      type Fault = (put: Arena['put'], out: Pointer, value: Float32Array) => number
      const faults: Readonly<Record<string, Fault>> = {
        add: (put, out, x) => opened.kernels.add(put(x), put(two), out, 4),
        gelu: (put, out, x) => opened.kernels.gelu(put(x), out, 4) | opened.kernels.gelu(put(x.map((v) => -v)), out, 4),
        rowScale: (put, out, x) => opened.kernels.rowScale(put(x), NONE, out, 1, 4, 4, 0, 1),
        rowMean: (put, out, x) => opened.kernels.rowMean(put(x), out, 1, 4),
        norm: (put, out, x) => opened.kernels.norm(put(x), NONE, put(two), put(two), NONE, out, 1, 4),
        columnSum: (put, out, x) => opened.kernels.columnSum(put(x), out, 1, 4, 0, 4),
        squareSums: (put, out, x) => opened.kernels.squareSums(put(x), out, 4),
        'dequantise by its scales': (put, out, x) =>
          opened.kernels.dequantise(put(Int32Array.of(1, 2, 3, 4)), put(two), put(x), NONE, out, 1, 4, 0, 1, 1),
        adamWSecond: (put, out, x) => opened.kernels.adamWSecond(put(two), put(x), put(two), out, 4, 0.5),
        embed: (put, out, x) => opened.kernels.embed(put(Uint32Array.of(0)), NONE, put(x), NONE, out, 1, 4, 1, 0),
      }
      test.each(Object.entries(faults))('%s', (_, call) => {
        for (const value of bad)
          bytesFrom(64, (put, out) => expect(`${value}: ${call(put, out, one(value))}`).toBe(`${value}: 1`))
        bytesFrom(64, (put, out) => expect(call(put, out, one(2))).toBe(0))
      })

      test('a size of 0 that something is divided by', () => {
        const { kernels } = opened
        bytesFrom(64, (put, out) => {
          const x = put(two)
          expect(kernels.rowScale(x, NONE, out, 1, 4, 0, 0, 1)).toBe(1)
          expect(kernels.quantise(x, NONE, x, out, 1, 4, 4, 0, 0)).toBe(1)
          expect(kernels.product(x, x, out, 1, 1, 4, 1, 0, 0, 0)).toBe(1)
          expect(kernels.productPieces(x, x, x, out, 1, 1, 4, 0, 1, 1)).toBe(1)
          expect(kernels.rowMaximum(x, out, 1, 0, 0, 0)).toBe(1)
          expect(kernels.argmax(x, out, 1, 0)).toBe(1)
          expect(kernels.places(out, 1, 0, 0)).toBe(1)
        })
      })

      test('an index that is out of range', () => {
        const { kernels } = opened
        bytesFrom(64, (put, out) => {
          const [table, index] = [put(two), put(Uint32Array.of(4))]
          expect(kernels.embed(index, NONE, table, NONE, out, 1, 1, 4, 0)).toBe(1)
          expect(kernels.crossEntropy(table, table, table, index, out, 1, 4)).toBe(1)
          expect(kernels.embedBackward(index, table, table, out, out, 1, 4, 1, 0, 1, 1)).toBe(1)
          expect(kernels.windowOrder(table, out, 0, 4, 3, 2)).toBe(1)
          expect(kernels.windowOrder(table, out, 0, 0, 0, 0)).toBe(1)
        })
      })
    })
  })
}
