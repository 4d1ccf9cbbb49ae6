import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { PRIVATE_CHEATS, privateCheatsThatPass } from '../../../../../test/support/privateCheats.ts'
import {
  chanceOf,
  entriesOf,
  judge,
  multiply,
  type Proven,
  prepare,
  prove,
  provenPrivate,
  transcriptOf,
} from '../../../../../test/support/privateProducts.ts'
import { fromHex, toHex } from '../../../bytes/hex.ts'
import { checkPrivate } from './checkPrivate.ts'
import {
  combine,
  decodePoint,
  decodeScalar,
  dot,
  encodePoint,
  encodeScalar,
  inverse,
  namedPoint,
  ORDER,
  reduce,
} from './group.ts'
import { foldVectors } from './innerProduct.ts'
import { decodeProof, encodeProof, privateProofBytes } from './proof.ts'
import { type Chance, drawMasks, drawScalars, type Masks, provePrivate, type Secrets } from './provePrivate.ts'
import { type Bases, commit, drawn, type PrivateProduct, spellProduct, type Terms } from './statement.ts'
import type { Draws } from './transcript.ts'

interface Vector {
  readonly a: readonly (readonly number[])[]
  readonly b: readonly (readonly number[])[]
  readonly hidesB: boolean
  readonly hidesC: boolean
  readonly chance: string
  readonly commitments: readonly string[]
  readonly statement: string
  readonly proof: string
}

const VECTORS: readonly Vector[] = JSON.parse(
  readFileSync(new URL('../../../../../test/vectors/privateProduct.json', import.meta.url), 'utf8'),
)

const scalar = fc.bigInt(0n, ORDER - 1n)

test('numbers and points have one spelling, and nothing else is read', () => {
  fc.assert(
    fc.property(scalar, (x) => {
      expect(decodeScalar(encodeScalar(x))).toBe(x)
      expect(decodeScalar(encodeScalar(x + ORDER))).toBeNull()
    }),
  )
  expect(decodePoint(new Uint8Array(31))).toBeNull()
  expect(decodePoint(new Uint8Array(32).fill(255))).toBeNull()
  const point = namedPoint('value', new Uint8Array(), 0)
  expect(decodePoint(encodePoint(point))?.equals(point)).toBe(true)
  expect(combine([point], [0n]).is0()).toBe(true)
  const odd = encodePoint(point).map((byte, i) => (i === 0 ? byte ^ 1 : byte))
  expect(decodePoint(odd)).toBeNull()
})

test('makes the proofs of the independent implementation, byte for byte', () => {
  for (const { a, b, hidesB, hidesC, chance: name, commitments, statement, proof } of VECTORS) {
    const sizes = { rows: a.length, inner: a[0]!.length, columns: b.length }
    const given = { a: a.flat().map(BigInt), b: b.flat().map(BigInt) }
    const chance = chanceOf(name)
    const prepared = prepare(sizes, { b: hidesB, c: hidesC }, given, chance)
    expect(prepared.product.a.map(toHex)).toEqual(commitments)
    expect(toHex(spellProduct(prepared.product))).toBe(statement)
    const proven = prove(prepared, drawMasks(chance, sizes.inner))
    expect(toHex(proven.proof)).toBe(proof)
    expect(proof.length / 2).toBe(privateProofBytes(sizes.inner))
    expect(judge({ ...proven, proof: fromHex(proof, proof.length / 2)! })).toBeNull()
  }
})

test.each(Object.entries(PRIVATE_CHEATS))('finds %s, 16 times', (_, cheat) => {
  expect(privateCheatsThatPass(cheat, 16)).toBe(0)
})

test('says what is wrong', () => {
  const honest = provenPrivate({ rows: 2, inner: 2, columns: 1 }, { b: false, c: false }, 1)
  const { product, proof } = honest
  const open = product.c as { readonly open: readonly number[] }
  const with_ = (change: Partial<PrivateProduct>): Proven => ({ ...honest, product: { ...product, ...change } })
  expect(judge(with_({ inner: 3 }))).toBe('BAD_STATEMENT')
  expect(judge(with_({ inner: 2 ** 11 }))).toBe('BAD_STATEMENT')
  expect(judge(with_({ a: product.a.slice(1) }))).toBe('BAD_STATEMENT')
  expect(judge(with_({ a: product.a.map(() => new Uint8Array(32).fill(255)) }))).toBe('BAD_STATEMENT')
  expect(judge(with_({ c: { open: [2 ** 31, 0] } }))).toBe('BAD_STATEMENT')
  expect(judge(with_({ c: { open: open.open.map((entry) => entry + 1) } }))).toBe('WRONG_RESULT')
  expect(judge({ ...honest, proof: proof.slice(1) })).toBe('BAD_PROOF')
  expect(judge({ ...honest, proof: proof.map(() => 255) })).toBe('BAD_PROOF')
  expect(judge({ ...honest, proof: proof.map((byte, i) => (i === proof.length - 32 ? byte ^ 1 : byte)) })).toBe(
    'WRONG_VECTORS',
  )
})

/** Draws that were chosen before anything was said. */
const programmed = (chosen: readonly bigint[]): Draws => {
  let at = 0
  return {
    absorb: () => {},
    draw: (count) => {
      at += count
      return chosen.slice(at - count, at)
    },
  }
}

/** A proof by somebody who knows neither A nor B, but chooses the draws first: l and r of the end are plain chance. */
function simulate({ product, bases }: Pick<Proven, 'product' | 'bases'>, chance: Chance) {
  const { rows, inner, columns } = product
  const chosen = drawScalars(chance, rows + columns + 2 + Math.log2(inner))
  const [r, s] = [chosen.slice(0, rows), chosen.slice(rows, rows + columns)]
  const x = chosen[rows + columns]!
  const [blindTotal, blindVectors, second] = drawScalars(chance, 3) as [bigint, bigint, bigint]
  const [l, rr] = [drawScalars(chance, inner), drawScalars(chance, inner)]
  const found = drawn(product, r, s)!
  const sumOf = ({ points, scalars }: Terms) => combine(points, scalars)
  const columnsOf =
    'open' in found.columns ? { points: bases.right, scalars: found.columns.open } : found.columns.hidden
  const vectors = sumOf(found.rows).add(sumOf(columnsOf))
  const value = 'open' in found.value ? combine([bases.value], [found.value.open]) : sumOf(found.value.hidden)
  const total = dot(l, rr)
  const { left, right, blind } = bases
  const back = inverse(x)
  const points = {
    mask: combine(
      [...left, ...right, blind, vectors],
      [...l, ...rr, blindVectors, -1n].map((by) => by * back),
    ),
    first: combine(
      [bases.value, blind, value, blind],
      [total, blindTotal, -1n, -second * x * x].map((by) => by * back),
    ),
    second: combine([blind], [second]),
  }
  const said = Object.fromEntries(Object.entries(points).map(([name, point]) => [name, encodePoint(point)])) as Record<
    keyof typeof points,
    Uint8Array
  >
  const draws = programmed(chosen.slice(rows + columns + 1))
  const bound = combine([bases.inner], draws.draw(1))
  const folded = foldVectors({ l, r: rr, left, right }, bound, draws)
  return { chosen, proof: encodeProof({ ...said, total, blindTotal, blindVectors, ...folded }) }
}

describe('hiding', () => {
  const sizes = { rows: 2, inner: 4, columns: 2 }

  test.each([
    { b: true, c: true },
    { b: true, c: false },
    { b: false, c: false },
  ])('whoever chooses the draws makes proofs without knowing anything (hidden: $b, $c)', (hides) => {
    const { product, bases } = provenPrivate(sizes, hides, 3)
    const { chosen, proof } = simulate({ product, bases }, chanceOf('simulator'))
    expect(checkPrivate(product, bases, proof, programmed(chosen))).toBeNull()
    // The same bytes under draws that follow from them are nothing.
    expect(checkPrivate(product, bases, proof, transcriptOf(product))).toBe('WRONG_RESULT')
  })

  test('a simulator does it for a false statement too: only the order of what is said shows anything', () => {
    const { a, b } = entriesOf(sizes, 4)
    const false_ = multiply(sizes, a, b).map((entry) => entry + 5n)
    const { product, bases } = prepare(sizes, { b: true, c: false }, { a, b }, chanceOf('false'), false_)
    const { chosen, proof } = simulate({ product, bases }, chanceOf('simulator'))
    expect(checkPrivate(product, bases, proof, programmed(chosen))).toBeNull()
  })

  test('every proof is, byte for byte, the proof of any other A and B with the same C', () => {
    const { given, other, bases, logs } = twoExplanations()
    const chance = chanceOf('explained')
    const blindA = drawScalars(chance, 2)
    const blindB = drawScalars(chance, 2)
    const secrets: Secrets = { ...given, blindA, blindB, blindC: [0n, 0n, 0n, 0n] }
    const product = stated(bases, secrets)
    const masks = drawMasks(chance, 4)
    const heard: bigint[] = []
    const proof = provePrivate(product, bases, secrets, masks, listening(product, heard))
    const explained = explain({ secrets, masks }, other, logs, heard)
    expect(stated(bases, explained.secrets)).toEqual(product)
    expect(provePrivate(product, bases, explained.secrets, explained.masks, transcriptOf(product))).toEqual(proof)
    expect(checkPrivate(product, bases, proof, transcriptOf(product))).toBeNull()
  })

  test('two proofs of the same have no number in common', () => {
    const prepared = prepare(sizes, { b: true, c: false }, entriesOf(sizes, 5), chanceOf('twice'))
    const parts = ['one', 'two'].flatMap((name) => {
      const { proof } = prove(prepared, drawMasks(chanceOf(name), sizes.inner))
      return Array.from({ length: proof.length / 32 }, (_, i) => toHex(proof.subarray(32 * i, 32 * i + 32)))
    })
    expect(new Set(parts).size).toBe(parts.length)
    expect(decodeProof(new Uint8Array(31), 1)).toBeNull()
  })
})

/** What only this test knows: of every base, how often it holds the first. */
interface Logs {
  readonly blind: bigint
  readonly value: bigint
  readonly left: readonly bigint[]
  readonly right: readonly bigint[]
}

/** 2 x 4 by 4 x 2, and the same with two inner places changed by a matrix and its inverse. */
function twoExplanations() {
  const given = { a: [1n, 2n, 3n, 4n, -5n, 6n, 7n, -8n], b: [9n, 1n, 0n, 2n, -3n, 4n, 5n, 6n] }
  // Column 1 of A gets column 0 added; row 0 of B gets row 1 taken off.
  const other = {
    a: given.a.map((entry, i) => (i % 4 === 1 ? entry + given.a[i - 1]! : entry)),
    b: given.b.map((entry, i) => (i % 4 === 0 ? entry - given.b[i + 1]! : entry)),
  }
  const sizes = { rows: 2, inner: 4, columns: 2 }
  expect(multiply(sizes, other.a, other.b)).toEqual(multiply(sizes, given.a, given.b))
  const chance = chanceOf('logs')
  const [blind, value, inner] = drawScalars(chance, 3) as [bigint, bigint, bigint]
  const [left, right] = [drawScalars(chance, 4), drawScalars(chance, 4)]
  const base = namedPoint('value', new Uint8Array(), 0)
  const at = (log: bigint) => combine([base], [log])
  const bases: Bases = {
    ...{ blind: at(blind), value: at(value), inner: at(inner) },
    ...{ left: left.map(at), right: right.map(at) },
  }
  return { given, other, bases, logs: { blind, value, left, right } satisfies Logs }
}

const stated = (bases: Bases, { a, blindA, b, blindB }: Secrets): PrivateProduct => {
  const rowOf = (all: readonly bigint[], i: number) => all.slice(4 * i, 4 * i + 4)
  return {
    ...{ rows: 2, inner: 4, columns: 2 },
    a: blindA.map((by, i) => encodePoint(commit(bases.left, bases.blind, rowOf(a, i), by))),
    b: { hidden: blindB.map((by, j) => encodePoint(commit(bases.right, bases.blind, rowOf(b, j), by))) },
    c: { open: multiply({ rows: 2, inner: 4, columns: 2 }, a, b).map(Number) },
  }
}

/** The transcript, and everything it drew. */
function listening(product: PrivateProduct, heard: bigint[]): Draws {
  const draws = transcriptOf(product)
  return {
    absorb: (...said) => draws.absorb(...said),
    draw: (count) => {
      const found = draws.draw(count)
      heard.push(...found)
      return found
    },
  }
}

/** The secrets and masks with which another A and B make the very same proof. */
function explain(
  { secrets, masks }: { readonly secrets: Secrets; readonly masks: Masks },
  other: Pick<Secrets, 'a' | 'b'>,
  logs: Logs,
  [r0, r1, s0, s1, x]: readonly bigint[],
) {
  const back = inverse(logs.blind)
  const less = (before: readonly bigint[], after: readonly bigint[]) => before.map((entry, i) => entry - after[i]!)
  const parts = (v: readonly bigint[]) => [v.slice(0, 4), v.slice(4)] as const
  const moved = (before: readonly bigint[], after: readonly bigint[], along: readonly bigint[]) =>
    parts(less(before, after)).map((part) => dot(part, along) * back)
  const summed = (v: readonly bigint[], [p, q]: readonly [bigint, bigint]) => {
    const [first, second] = parts(v)
    return first.map((entry, i) => reduce(p * entry + q * second[i]!))
  }
  const [r, s] = [[r0!, r1!] as const, [s0!, s1!] as const]
  const [l, rr] = [summed(secrets.a, r), summed(secrets.b, s)]
  const [l2, rr2] = [summed(other.a, r), summed(other.b, s)]
  const byX = inverse(x!)
  const left = masks.left.map((mask, i) => reduce(mask + (l[i]! - l2[i]!) * byX))
  const right = masks.right.map((mask, i) => reduce(mask + (rr[i]! - rr2[i]!) * byX))
  const first = dot(l, masks.right) + dot(masks.left, rr) - dot(l2, right) - dot(left, rr2)
  const second = dot(masks.left, masks.right) - dot(left, right)
  const along = dot(less(masks.left, left), logs.left) + dot(less(masks.right, right), logs.right)
  const byValue = logs.value * back
  return {
    secrets: {
      ...other,
      blindA: moved(secrets.a, other.a, logs.left).map((by, i) => reduce(by + secrets.blindA[i]!)),
      blindB: moved(secrets.b, other.b, logs.right).map((by, i) => reduce(by + secrets.blindB[i]!)),
      blindC: secrets.blindC,
    },
    masks: {
      left,
      right,
      vectors: reduce(masks.vectors + along * back),
      first: reduce(masks.first + first * byValue),
      second: reduce(masks.second + second * byValue),
    },
  }
}
