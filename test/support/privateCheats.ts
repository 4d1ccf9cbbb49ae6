import { concatBytes } from '../../src/core/bytes/bytes.ts'
import { combine, decodePoint, encodePoint, encodeScalar, ORDER } from '../../src/core/work/methods/zk/group.ts'
import { commitEntries, drawMasks, type Secrets } from '../../src/core/work/methods/zk/provePrivate.ts'
import { chanceOf, entriesOf, judge, multiply, type Prepared, type Proven, prepare, prove } from './privateProducts.ts'
import { type Below, turned } from './sumcheckCheats.ts'
import { chanceFrom } from './workTrials.ts'

interface Honest extends Proven {
  readonly prepared: Prepared
  /** Another proof of the same. */
  readonly other: Uint8Array
}

type Cheat = (honest: Honest, below: Below) => Proven

const INNER = 2

/** A proof under the same commitments to A and B, with another C and whatever secrets the cheat likes best. */
function anew({ prepared }: Honest, c: readonly bigint[], secrets: Partial<Secrets>, below: Below): Proven {
  const { product, bases, secrets: own } = prepared
  const said = 'hidden' in product.c ? { hidden: commitEntries(bases, c, own.blindC) } : { open: c.map(Number) }
  const changed = { product: { ...product, c: said }, bases, secrets: { ...own, ...secrets }, c }
  return prove(changed, drawMasks(chanceOf(`cheat ${below(2 ** 30)}`), INNER))
}

const oneMore = (entries: readonly bigint[], below: Below): bigint[] => {
  const at = below(entries.length)
  return entries.map((entry, i) => (i === at ? entry + 1n : entry))
}

/** Everything a cheat may change, each with the best proof that it can make. */
export const PRIVATE_CHEATS: Readonly<Record<string, Cheat>> = {
  'a wrong entry of C, committed to or in the open, and a new proof': (honest, below) =>
    anew(honest, oneMore(honest.prepared.c, below), {}, below),
  'a proof about other rows than those that were committed to': (honest, below) => {
    const { secrets, product } = honest.prepared
    const a = oneMore(secrets.a, below)
    return anew(honest, multiply(product, a, secrets.b), { a }, below)
  },
  'a proof about another B than the one that is named': (honest, below) => {
    const { secrets, product } = honest.prepared
    const b = oneMore(secrets.b, below)
    return anew(honest, multiply(product, secrets.a, b), { b }, below)
  },
  'a part of another proof of the same statement': (honest, below) => {
    const { other } = honest
    const at = 32 * below(other.length / 32)
    const proof = honest.proof.slice()
    proof.set(other.subarray(at, at + 32), at)
    return { ...honest, proof }
  },
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
      const prepared = prepare(sizes, hides, entriesOf(sizes, seed), secret)
      const [made, other] = [0, 1].map(() => prove(prepared, drawMasks(secret, INNER))) as [Proven, Proven]
      honest = { ...made, prepared, other: other.proof }
      if (judge(honest) !== null) throw new Error('an honest proof is refused')
    }
    if (judge(cheat(honest, below)) === null) passed++
  }
  return passed
}
