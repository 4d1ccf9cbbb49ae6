import { HASH_BYTES } from '../../../proof/merkle.ts'
import type { PatchDraw } from '../../draws.ts'
import { elementsOf } from '../../ops/shapes.ts'
import type { Ops } from '../../program.ts'
import {
  LEAF_BYTES,
  leavesOf,
  leavesOfRow,
  leavesUnder,
  rowBytes,
  type TensorShape,
  tensorBytes,
} from '../../tensor.ts'
import { depthOf } from '../../tensorTree.ts'
import type { Work } from '../../work.ts'
import { DRAWN_SEQUENCES, drawRest, type RestDraws, regionsOf, revealsOf, type Tie } from './rest.ts'
import type { RestPlan } from './restPlan.ts'
import type { Reveal } from './stepLayout.ts'
import { layoutOfPlan, productsBytes } from './stepProof.ts'

/** The same for everybody who has the specification, also before the seed is out. */
const ANY_SEED = new Uint8Array(HASH_BYTES)

/** About the most bytes that the proof of a transition has, whatever is drawn. */
export function proofBytesOf<K>({ ops }: Work<K>, plan: RestPlan): number {
  const anyDraws = drawRest(ops, plan, ANY_SEED)
  const products = productsBytes(plan.products, mostRows(ops, plan, anyDraws))
  return Math.ceil(products + wholeBytes(plan) + openedOf(ops, plan, anyDraws))
}

/** Rows in the clear, as many as draws may ask for: a sequence may begin and end within rows of the code. */
function mostRows<K>(ops: Ops<K>, plan: RestPlan, draws: RestDraws): readonly Reveal[] {
  const { byName } = layoutOfPlan(plan.products)
  const ofSequences = [...plan.kept.keys()].filter((name) => plan.lies.get(name) !== 'shared')
  const mostOf = (name: string): Reveal => {
    const { rows, perRow } = byName.get(name)!
    const [own, inOne] = [rows / plan.count, 2 ** perRow]
    const isAligned = own % inOne === 0 || inOne % own === 0
    const most = isAligned ? Math.max(own, inOne) : (Math.floor((own - 2) / inOne) + 2) * inOne
    return { name, row: 0, rows: Math.min(rows, DRAWN_SEQUENCES * most) }
  }
  return [...ofSequences.map(mostOf), ...revealsOf(ops, plan, { ...draws, sequences: [] })]
}

const sumOf = <T>(all: readonly T[], bytes: (of: T) => number): number => all.reduce((sum, of) => sum + bytes(of), 0)

/** Vectors, and windows. */
const wholeBytes = ({ vectors, isKnown, whole }: RestPlan): number =>
  sumOf([...vectors, ...isKnown], (name) => tensorBytes(whole.shapes.get(name)!))

/** Rows that are looked up, ties, and patches. */
function openedOf<K>(ops: Ops<K>, plan: RestPlan, { ties, patches }: RestDraws): number {
  const { vectors, whole, one, trees, rest, tables, count } = plan
  const shapeOf = (name: string) => whole.shapes.get(name)!
  const isOpened = new Set(trees.filter((name) => !vectors.has(name)))
  const ofTable = ({ name, by }: RestPlan['tables'][number]) => {
    const rows = Math.min(shapeOf(name).rows, (DRAWN_SEQUENCES * elementsOf(shapeOf(by))) / count)
    return openedBytes(shapeOf(name), rows * leavesOfRow(shapeOf(name)))
  }
  const ofTie = ({ name, rows }: Tie) =>
    rows.length * openedBytes(shapeOf(name), 2 + Math.floor(rowBytes(one.shapes.get(name)!) / LEAF_BYTES))
  const ofPatch = ({ step, patch: index }: PatchDraw) => {
    const { op, inputs, outputs } = rest.steps[step]!
    const patch = ops[op]!.patch(rest.shaped[step]!, index)
    const touched = [...inputs, ...outputs].map((name, i) => ({ name, i })).filter(({ name }) => isOpened.has(name))
    const regions = [...patch.inputs, ...patch.outputs]
    return sumOf(touched, ({ name, i }) => {
      const leaves = regionsOf(regions[i]!).flatMap((region) => leavesUnder(shapeOf(name), region))
      return openedBytes(shapeOf(name), new Set(leaves).size)
    })
  }
  return sumOf(tables, ofTable) + sumOf(ties, ofTie) + sumOf(patches, ofPatch)
}

/** Some leaves, wherever they are, and the hashes beside them. */
function openedBytes(shape: TensorShape, leaves: number): number {
  const beside = 1 + depthOf(leavesOf(shape)) - Math.floor(Math.log2(leaves))
  return leaves * (Math.min(LEAF_BYTES, rowBytes(shape)) + HASH_BYTES * beside)
}
