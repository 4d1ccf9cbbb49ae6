import { concatBytes } from '../../../../core/bytes/bytes.ts'
import { HASH_BYTES } from '../../../../core/proof/merkle.ts'
import { type PatchEvidence, showPatch, type TakeLeaves } from '../../../../core/work/checkPatch.ts'
import type { PatchDraw } from '../../../../core/work/draws.ts'
import type { Place } from '../../../../core/work/op.ts'
import type { Ops, ShapedProgram } from '../../../../core/work/program.ts'
import { leafSpan, leavesOf, type TensorShape } from '../../../../core/work/tensor.ts'
import { depthOf, levelStart, missingNodes } from '../../../../core/work/tensorTree.ts'
import type { WorkKernels } from '../../../../core/work/workKernels.ts'
import type { WorkCard } from './card.ts'

const TREE = '\0tree'

interface Opened {
  readonly place: Place
  /** All levels one after the other, leaves first. */
  readonly tree: Place
}

/** Patches of a step that has just been run. Its tensors and their trees stay on the card: only what is opened is read. */
export async function openStep(
  card: WorkCard,
  ops: Ops<WorkKernels>,
  program: ShapedProgram,
  draws: readonly PatchDraw[],
): Promise<readonly PatchEvidence[]> {
  const { inputs, outputs } = program.steps[draws[0]!.step]!
  const trees = new Map(
    [...new Set([...inputs, ...outputs])].map((name) => {
      const place = card.memory.place(name)
      return [name, { place, tree: card.tree(place, `${TREE} ${name}`) }]
    }),
  )
  await card.settle()
  const found = draws.map(({ step, patch }) => {
    const reads = ops[program.steps[step]!.op]!.patch(program.shaped[step]!, patch)
    return evidenceOf(card, trees, (take) => showPatch(program, step, reads, take))
  })
  for (const name of trees.keys()) card.memory.free(`${TREE} ${name}`)
  return found
}

/** Leaves that are asked for, one tensor after the other, and the hashes that lead from them to its root. */
function evidenceOf(
  card: WorkCard,
  trees: ReadonlyMap<string, Opened>,
  gather: (take: TakeLeaves) => void,
): PatchEvidence {
  const leaves: Uint8Array[] = []
  const proofs: Uint8Array[] = []
  gather((name, shape, asked, shown) => {
    const { place, tree } = trees.get(name)!
    proofs.push(...nodesBeside(shape, asked).map((node) => card.takeBytes(tree.at + node * HASH_BYTES, HASH_BYTES)))
    const found = new Map(
      shown.map((leaf) => {
        const { start, length } = leafSpan(shape, leaf)
        return [leaf, card.takeBytes(place.at + start, length)]
      }),
    )
    leaves.push(...found.values())
    return (leaf) => found.get(leaf)!
  })
  return { leaves: concatBytes(...leaves), proof: concatBytes(...proofs) }
}

/** Where the hashes that complete some leaves lie in a tree that is kept level by level, leaves first. */
function nodesBeside(shape: TensorShape, leaves: readonly number[]): readonly number[] {
  const depth = depthOf(leavesOf(shape))
  return Array.from(missingNodes(depth, leaves), ({ level, at }) => levelStart(depth, level) + at)
}
