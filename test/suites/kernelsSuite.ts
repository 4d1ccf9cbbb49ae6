import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import { beforeAll, describe, expect, test } from 'vitest'
import { fromHex, toHex } from '../../src/core/bytes/hex.ts'
import { engineOn } from '../../src/core/engine/engineOn.ts'
import type { Kernels, Pointer } from '../../src/core/engine/kernels.ts'
import { PRECISION_NAMES, PRECISIONS, type Precision } from '../../src/core/params/precision.ts'
import { fingerprintTile } from '../../src/core/proof/fingerprint.ts'
import { buildTree, leafHash } from '../../src/core/proof/merkle.ts'
import { bindPartner, keptWords, passPartner } from '../../src/core/proof/partners.ts'
import { fma32, referenceEngine } from '../../src/core/proof/referenceEngine.ts'
import { nextPass, nextSeed, passRoot } from '../../src/core/proof/seeds.ts'
import type { TileEngine } from '../../src/core/proof/tileEngine.ts'
import { bitsOf, exactFma, floatOf } from '../support/exactFma.ts'

/** Kernels on a memory of a few megabytes that is free from `free` on. */
export interface OpenedKernels {
  readonly kernels: Kernels
  readonly buffer: ArrayBuffer
  readonly free: Pointer
  /** Writes 32 equal rows of fp32 as `product` wants them. */
  putEqualRows(at: Pointer, row: readonly number[]): void
}

const seeds = fc.uint8Array({ minLength: 32, maxLength: 32 })
const words = (length: number) => fc.array(fc.nat(0xffffffff), { minLength: length, maxLength: length })

/** What every build of the kernels must do; `cases` is how many random ones each property tries, 1 for all. */
export function kernelsSuite(name: string, open: () => Promise<OpenedKernels>, cases = 1): void {
  const runs = (count: number) => ({ numRuns: Math.ceil(count * cases) })
  let opened: OpenedKernels
  let kernels: Kernels
  let buffer: ArrayBuffer
  let free: Pointer
  let engine: TileEngine
  beforeAll(async () => {
    opened = await open()
    ;({ kernels, buffer, free } = opened)
    engine = engineOn(kernels, buffer, free)
  })
  const put = (at: number, bytes: ArrayLike<number>) => new Uint8Array(buffer, at, bytes.length).set(bytes)
  const putWords = (at: number, values: ArrayLike<number>) => new Uint32Array(buffer, at, values.length).set(values)
  const hash = (at: number) => new Uint8Array(buffer, at, 32).slice()
  const sums = (at: number) => {
    const [f0, f1] = new BigUint64Array(buffer, at, 2)
    return { f0, f1 }
  }

  describe(`the kernels in ${name}`, () => {
    describe('equal the reference bit for bit', () => {
      test.each(PRECISION_NAMES)('tiles of %s over seeds, places and k', (precision) => {
        const tiles = fc.nat(1023)
        const ks = fc.constantFrom(32, 64, 96, 256, 288, 1024, 1056)
        const check = fc.property(seeds, ks, tiles, tiles, (seed, k, tileRow, tileColumn) => {
          const request = { seed, precision, k, tileRow, tileColumn }
          expect(engine.tile(request)).toEqual(referenceEngine.tile(request))
        })
        fc.assert(check, { ...runs(8), examples: [[new Uint8Array(32).fill(255), 64, 1023, 1023]] })
      })

      test('openings lead where the definition says, alone, in pairs and by kept words', () => {
        const place = fc.record({ tileRow: fc.nat(1023), tileColumn: fc.nat(1023) })
        const path = fc.nat(5).chain((depth) => fc.uint8Array({ minLength: 32 * depth, maxLength: 32 * depth }))
        const salts = fc.nat(0xffffffff)
        const check = fc.property(seeds, place, place, salts, salts, path, (seed, a, b, salt, leaf, path) => {
          const own = { seed, precision: 'int8' as const, k: 32, ...a }
          const alone = { own, kept: false, salt, leaf, path }
          const partner = { ...own, ...b }
          // The first two ask for the same tile, one after the other.
          for (const opening of [{ ...alone, partner, kept: true }, alone, { ...alone, partner }])
            expect(toHex(engine.rootFrom(opening))).toBe(toHex(referenceEngine.rootFrom(opening)))
        })
        fc.assert(check, runs(12))
      })

      /** 32 equal rows of A against 32 equal rows of B, all 1024 chains the same. */
      const chainOf = (a: readonly number[], b: readonly number[]) => {
        const k = a.length
        const [rowsA, rowsB, out] = [free, free + 4 * 32 * k, free + 8 * 32 * k]
        opened.putEqualRows(rowsA, a)
        opened.putEqualRows(rowsB, b)
        kernels.product(PRECISIONS.fp32.code, rowsA, rowsB, k, out)
        return new Uint32Array(buffer, out, 1024)
      }
      const chain = (a: readonly number[], b: readonly number[]) =>
        bitsOf(a.reduce((sum, x, i) => fma32(x, b[i]!, sum), 0))

      test('fp32 chains that come within 2^-46 of a tie, where rounding twice would be wrong', () => {
        // From 256 on a float's last place is 2^-15, and a double's 2^-44: a tie and its neighbours look alike there.
        const unit = 2 ** -23
        const steps = [
          [33025 * unit, 32513 * unit], // 2^-16 + 2^-46
          [-33025 * unit, 32513 * unit],
          [32769 * unit, 32767 * unit], // 2^-16 - 2^-46
          [-32769 * unit, 32767 * unit],
          [2 ** -8, 2 ** -8], // the tie itself
          [-(2 ** -8), 2 ** -8],
          [2 ** -7, 2 ** -8], // one last place: from even to odd
        ] as const
        const tail = fc.array(fc.nat(steps.length - 1), { minLength: 64, maxLength: 64 })
        const check = fc.property(tail, (picks) => {
          const a = [...Array(256).fill(-1), ...picks.map((pick) => steps[pick]![0])]
          const b = [...Array(256).fill(-1), ...picks.map((pick) => steps[pick]![1])]
          expect(new Set(chainOf(a, b))).toEqual(new Set([chain(a, b)]))
        })
        fc.assert(check, runs(40))
      })

      test('fp32 chains of any entries, short ones and full ones', () => {
        const short = fc.tuple(fc.integer({ min: -8, max: 8 }), fc.nat(20)).map(([n, e]) => (n * 2 ** -e) / 8)
        const full = fc.integer({ min: -(2 ** 23), max: 2 ** 23 - 1 }).map((n) => n * 2 ** -23)
        const entry = fc.oneof(short, full, fc.constantFrom(-1, 1 - 2 ** -23, 2 ** -23, -(2 ** -23), 0))
        const row = fc.array(entry, { minLength: 64, maxLength: 64 })
        const check = fc.property(row, row, (a, b) => {
          expect(new Set(chainOf(a, b))).toEqual(new Set([chain(a, b)]))
        })
        fc.assert(check, runs(60))
      })

      test('fingerprints, kept words and partners', () => {
        const check = fc.property(
          words(1024),
          words(1024),
          seeds,
          fc.integer({ min: 1, max: 0xffffffff }),
          (own, other, seed, count) => {
            const [a, b, masks, out] = [free, free + 4096, free + 8192, free + 12288]
            const [mine, theirs] = [Uint32Array.from(own), Uint32Array.from(other)]
            const salt = mine[0]!
            putWords(a, mine)
            putWords(b, theirs)
            kernels.masks(salt, 1024, masks)
            kernels.fingerprintTile(a, masks, out)
            expect(sums(out)).toEqual(fingerprintTile(mine, salt))
            kernels.fingerprintPair(a, b, masks, 1024, out)
            expect(sums(out)).toEqual(fingerprintTile(mine, salt, theirs))
            kernels.fingerprintPair(a, b, masks, 512, out)
            expect(sums(out)).toEqual(fingerprintTile(mine.subarray(0, 512), salt, theirs.subarray(0, 512)))
            kernels.keep(a, out)
            expect(new Uint32Array(buffer, out, 512).slice()).toEqual(keptWords(mine))
            const w = new Uint32Array(seed.slice().buffer)
            expect(kernels.partner(salt, w[0]!, w[1]!, count) >>> 0).toBe(passPartner(salt, seed, count))
            expect(kernels.partner(salt, w[4]!, w[5]!, count) >>> 0).toBe(bindPartner(salt, seed, count))
          },
        )
        fc.assert(check, runs(25))
      })

      test('trees, whole and in parts, and the hashes that chain rounds and passes', () => {
        const depths = fc.tuple(fc.nat(6), fc.nat(6)).filter(([depth, part]) => part <= depth)
        const check = fc.property(
          depths,
          words(256),
          fc.nat(0xffffff00),
          seeds,
          seeds,
          ([depth, part], values, base, x, y) => {
            const [leaves, count] = [2 ** depth, 2 ** part]
            const [fingerprints, tree] = [free, free + 4096]
            putWords(fingerprints, values)
            for (let first = 0; first < leaves; first += count)
              kernels.subtree(fingerprints, base, leaves, first, count, tree)
            kernels.crown(leaves, count, tree)
            const levels = buildTree(
              Array.from({ length: leaves }, (_, i) => {
                const [f0, f1] = new BigUint64Array(buffer, fingerprints + 16 * i, 2)
                return leafHash(base + i, { f0: f0!, f1: f1! })
              }),
            ).flat()
            expect(levels.map((_, i) => toHex(hash(tree + 32 * i)))).toEqual(levels.map(toHex))
            put(free, x)
            put(free + 32, y)
            kernels.nextSeed(free, free + 32, free + 64)
            expect(hash(free + 64)).toEqual(nextSeed(x, y))
            kernels.nextPass(free, free + 32, free + 64)
            expect(hash(free + 64)).toEqual(nextPass(x, y))
            kernels.passRoot(base, free, free + 64)
            expect(hash(free + 64)).toEqual(passRoot(base, [x]))
          },
        )
        fc.assert(check, runs(40))
      })
    })

    describe('round a fused multiply-add once, like whole-number arithmetic', () => {
      const pattern = fc.nat(0xffffffff).filter((value) => ((value >>> 23) & 0xff) !== 0xff)
      const near = (exponent: number) =>
        fc
          .tuple(fc.nat(1), fc.integer({ min: exponent - 14, max: exponent + 14 }), fc.nat(0x7fffff), fc.nat(23))
          .map(
            ([sign, e, fraction, zeros]) =>
              ((sign << 31) | (Math.min(254, Math.max(0, e)) << 23) | ((fraction >>> zeros) << zeros)) >>> 0,
          )
      const same = (a: number, b: number, c: number) => {
        const got = bitsOf(kernels.fma(floatOf(a), floatOf(b), floatOf(c)))
        expect(got.toString(16)).toBe(exactFma(a, b, c).toString(16))
      }

      test('any finite operands', () => {
        fc.assert(fc.property(pattern, pattern, pattern, same), runs(3000))
      })

      test.each([
        ['ordinary', 127, 127, 127],
        ['denormal results', 64, 63, 1],
        ['overflow', 190, 191, 254],
        ['denormal operands', 4, 127, 4],
      ])('ties and neighbours: %s', (_, a, b, c) => {
        fc.assert(fc.property(near(a), near(b), near(c), same), runs(3000))
      })

      test('signed zeros', () => {
        const zeros = [0, 0x80000000]
        const one = bitsOf(1)
        for (const a of [...zeros, one, bitsOf(-1)])
          for (const b of [...zeros, one]) for (const c of [...zeros, one, bitsOf(-1)]) same(a, b, c)
      })

      test('infinities and NaN pass through', () => {
        expect(kernels.fma(Infinity, 2, -1)).toBe(Infinity)
        expect(kernels.fma(1, 1, -Infinity)).toBe(-Infinity)
        expect(kernels.fma(Infinity, 0, 1)).toBeNaN()
        expect(kernels.fma(Infinity, 1, -Infinity)).toBeNaN()
      })
    })

    describe('equal the independent vectors', () => {
      // biome-ignore lint/suspicious/noExplicitAny: the files are described in test/vectors/README.md
      const vectors = (name: string): any =>
        JSON.parse(readFileSync(new URL(`../vectors/${name}.json`, import.meta.url), 'utf8'))

      test('tiles, the deepest k included', () => {
        for (const { precision, seed, n, k, tile, values, valuesSha256 } of vectors('tiles')) {
          const place = { tileRow: Math.floor(tile / (n / 32)), tileColumn: tile % (n / 32) }
          const made = engine.tile({ seed: fromHex(seed, 32)!, precision: precision as Precision, k, ...place })
          const raw = new Uint8Array(made.buffer)
          if (values) expect(toHex(raw)).toBe(values)
          else expect(createHash('sha256').update(raw).digest('hex')).toBe(valuesSha256)
        }
      })

      test('fused multiply-adds', () => {
        const { domain, finite } = vectors('fma')
        for (const { name, a, b, c, result } of [...domain, ...finite]) {
          const [x, y, z] = [a, b, c].map((hex: string) => floatOf(Number.parseInt(hex, 16)))
          expect(`${name} ${bitsOf(kernels.fma(x!, y!, z!))}`).toBe(`${name} ${Number.parseInt(result, 16)}`)
        }
      })
    })
  })
}
