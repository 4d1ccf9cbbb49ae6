import { concatBytes } from '../../src/core/bytes/bytes.ts'
import { combine, decodePoint, encodePoint, encodeScalar, ORDER } from '../../src/core/work/methods/zk/group.ts'
import { drawMasks } from '../../src/core/work/methods/zk/provePrivate.ts'
import { chanceOf, entriesOf, type Hides, judge, multiply, type Proven, prepare, prove } from './privateProducts.ts'
import { type Below, turned } from './sumcheckCheats.ts'
import { chanceFrom } from './workTrials.ts'

interface Honest extends Proven {
  readonly seed: number
  readonly hides: Hides
}

type Cheat = (honest: Honest, below: Below) => Proven

const INNER = 2
const sizesOf = (honest: Proven) => honest.product

/** A proof anew, with something that is not as it should be. */
function anew(honest: Honest, change: (given: { a: bigint[]; b: bigint[]; c: bigint[] }) => void): Proven {
  const sizes = sizesOf(honest)
  const { a, b } = entriesOf(sizes, honest.seed)
  const given = { a, b, c: multiply(sizes, a, b) }
  change(given)
  const chance = chanceOf(`cheat ${honest.seed}`)
  return prove(prepare(sizes, honest.hides, given, chance, given.c), drawMasks(chance, INNER))
}

/** Everything a cheat may change, each with the best proof that it can make. */
export const PRIVATE_CHEATS: Readonly<Record<string, Cheat>> = {
  'a wrong entry of C, committed to or in the open, and a new proof': (honest, below) =>
    anew(honest, ({ c }) => {
      c[below(c.length)]! += below(2) ? 1n : -1n
    }),
  'a proof about other rows than those that were committed to': (honest, below) => {
    const other = anew(honest, ({ a, b, c }) => {
      a[below(a.length)]! += 1n
      c.splice(0, c.length, ...multiply(sizesOf(honest), a, b))
    })
    return { ...other, product: { ...other.product, a: honest.product.a }, bases: honest.bases }
  },
  'a proof about another B than the one that is named': (honest, below) => {
    const other = anew(honest, ({ b }) => {
      b[below(b.length)]! += 1n
    })
    return { ...honest, proof: other.proof }
  },
  'the proof of another statement': (honest) => ({ ...honest, proof: anew(honest, () => {}).proof }),
  'a commitment that was moved': (honest, below) => {
    const { product, bases } = honest
    const at = below(product.a.length)
    const moved = encodePoint(combine([decodePoint(product.a[at]!)!, bases.left[below(INNER)]!], [1n, 1n]))
    return { ...honest, product: { ...product, a: product.a.map((point, i) => (i === at ? moved : point)) } }
  },
  'a truncated proof': (honest, below) => ({ ...honest, proof: honest.proof.slice(0, below(honest.proof.length)) }),
  'an extended proof': (honest, below) => ({
    ...honest,
    proof: concatBytes(honest.proof, new Uint8Array(1 + below(64))),
  }),
  'a turned bit of the proof': (honest, below) => ({ ...honest, proof: turned(honest.proof, below) }),
  'a number of the proof in a second spelling': (honest, below) => {
    const at = 32 * [3, 4, 5, honest.proof.length / 32 - 2, honest.proof.length / 32 - 1][below(5)]!
    const number = honest.proof.slice(at, at + 32).reduceRight((sum, byte) => (sum << 8n) | BigInt(byte), 0n)
    const proof = honest.proof.slice()
    proof.set(encodeScalar(number + ORDER), at)
    return { ...honest, proof }
  },
}

/** So many random cheats of a kind, over a few honest proofs; answers what passed. */
export function privateCheatsThatPass(cheat: Cheat, tries: number): number {
  const chance = chanceFrom(tries)
  const below: Below = (bound) => chance.whole(0, bound - 1)
  let passed = 0
  for (let i = 0, honest: Honest | undefined; i < tries; i++) {
    if (i % 32 === 0 || !honest) {
      const seed = chance.whole(0, 2 ** 30)
      const sizes = { rows: chance.whole(1, 2), inner: INNER, columns: chance.whole(1, 2) }
      const hides = { b: below(2) === 1, c: below(2) === 1 }
      const secret = chanceOf(`honest ${seed}`)
      const made = prove(prepare(sizes, hides, entriesOf(sizes, seed), secret), drawMasks(secret, INNER))
      honest = { ...made, seed, hides }
      if (judge(honest) !== null) throw new Error('an honest proof is refused')
    }
    if (judge(cheat(honest, below)) === null) passed++
  }
  return passed
}
