import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { beforeAll, describe, expect, test } from 'vitest'
import { fromHex, toHex } from '../../src/core/bytes/hex.ts'
import type { Pointer } from '../../src/core/engine/kernels.ts'
import { entryRow } from '../../src/core/proof/entries.ts'
import { createWorkKernels, NONE, WORK_ARGUMENTS, WORK_OPS, type WorkKernels } from '../../src/core/work/workKernels.ts'
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

    /** Puts tensors, calls, and reads f32 back. */
    const floatsFrom = (count: number, call: (put: Arena['put'], out: Pointer) => number): Float32Array => {
      const { memory, free } = opened
      const arena = new Arena(free)
      const puts: Parameters<Arena['put']>[0][] = []
      const put: Arena['put'] = (values) => {
        puts.push(values)
        const at = arena.put(values)
        memory.set(new Uint8Array(values.buffer, values.byteOffset, values.byteLength), at)
        return at
      }
      const out = arena.room(4 * count)
      memory.fill(0, out, out + 4 * count)
      expect(call(put, out)).toBe(0)
      return new Float32Array(memory.slice(out, out + 4 * count).buffer)
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
  })
}
