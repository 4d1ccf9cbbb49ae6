import { sha512 } from '@noble/hashes/sha2.js'
import { checkPrivate } from '../../src/core/work/methods/zk/checkPrivate.ts'
import {
  type Chance,
  commitColumns,
  commitEntries,
  commitRows,
  drawMasks,
  drawScalars,
  type Masks,
  provePrivate,
  type Secrets,
} from '../../src/core/work/methods/zk/provePrivate.ts'
import {
  type Bases,
  basesFor,
  matrixId,
  type PrivateProduct,
  type Sizes,
  spellProduct,
} from '../../src/core/work/methods/zk/statement.ts'
import { ProductTranscript } from '../../src/core/work/methods/zk/transcript.ts'
import { chanceFrom } from './workTrials.ts'

/** Which of B and C are hidden. */
export interface Hides {
  readonly b: boolean
  readonly c: boolean
}

export interface Proven {
  readonly product: PrivateProduct
  readonly bases: Bases
  readonly proof: Uint8Array
}

/** What an honest prover has before it proves. */
export interface Prepared {
  readonly product: PrivateProduct
  readonly bases: Bases
  readonly secrets: Secrets
  readonly c: readonly bigint[]
}

/** Bytes that follow from a name. */
export function chanceOf(name: string): Chance {
  let count = 0
  return (bytes) => sha512(new TextEncoder().encode(`${name} ${count++}`)).subarray(0, bytes)
}

/** C by its rows, from A by its rows and B by its columns. */
export const multiply = ({ rows, inner, columns }: Sizes, a: readonly bigint[], b: readonly bigint[]): bigint[] =>
  Array.from({ length: rows * columns }, (_, at) => {
    const [i, j] = [Math.floor(at / columns), at % columns]
    let sum = 0n
    for (let l = 0; l < inner; l++) sum += a[i * inner + l]! * b[j * inner + l]!
    return sum
  })

export function prepare(
  sizes: Sizes,
  hides: Hides,
  { a, b }: { readonly a: readonly bigint[]; readonly b: readonly bigint[] },
  chance: Chance,
  said = multiply(sizes, a, b),
): Prepared {
  const { rows, columns } = sizes
  const blindA = drawScalars(chance, rows)
  const committedA = commitRows(sizes, a, blindA)
  const bases = basesFor(sizes.inner, matrixId(committedA))
  const none = (count: number) => new Array<bigint>(count).fill(0n)
  const blindB = hides.b ? drawScalars(chance, columns) : none(columns)
  const blindC = hides.c ? drawScalars(chance, rows * columns) : none(rows * columns)
  const product: PrivateProduct = {
    ...sizes,
    a: committedA,
    b: hides.b ? { hidden: commitColumns(bases, sizes, b, blindB) } : { open: b.map(Number) },
    c: hides.c ? { hidden: commitEntries(bases, said, blindC) } : { open: said.map(Number) },
  }
  return { product, bases, secrets: { a, blindA, b, blindB, blindC }, c: said }
}

export const transcriptOf = (product: PrivateProduct): ProductTranscript => new ProductTranscript(spellProduct(product))

export function prove({ product, bases, secrets }: Prepared, masks: Masks): Proven {
  return { product, bases, proof: provePrivate(product, bases, secrets, masks, transcriptOf(product)) }
}

export const judge = ({ product, bases, proof }: Proven) => checkPrivate(product, bases, proof, transcriptOf(product))

/** Small integers of a seed. */
export function entriesOf(sizes: Sizes, seed: number): { readonly a: bigint[]; readonly b: bigint[] } {
  const chance = chanceFrom(seed)
  const some = (count: number) => Array.from({ length: count }, () => BigInt(chance.whole(-127, 127)))
  return { a: some(sizes.rows * sizes.inner), b: some(sizes.columns * sizes.inner) }
}

export function provenPrivate(sizes: Sizes, hides: Hides, seed: number): Proven {
  const chance = chanceOf(`honest ${seed}`)
  return prove(prepare(sizes, hides, entriesOf(sizes, seed), chance), drawMasks(chance, sizes.inner))
}
