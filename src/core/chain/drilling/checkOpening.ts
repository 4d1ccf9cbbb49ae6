import type { ValueOf } from '@chainsafe/ssz'
import type { Working } from '../chainState.ts'
import type { OpeningType } from '../transactions/payloads.ts'
import { isInTree, resultLeaf } from './resultTree.ts'
import type { Task } from './task.ts'

export type Opening = ValueOf<typeof OpeningType>

/** Whether a leaf and all it was made of stand in a result, and the leaf follows from them. */
export function checkOpening(
  { state, checks }: Working,
  task: Task,
  resultRoot: Uint8Array,
  opening: Opening,
): boolean {
  const stands = ({ index, bytes, resultPath }: Pick<Opening, 'index' | 'bytes' | 'resultPath'>) =>
    isInTree(resultRoot, task.depth, index, resultLeaf(index, bytes), resultPath)
  // Inputs come before what is made of them: so the first wrong leaf has right inputs.
  if (!stands(opening) || !opening.inputs.every((input) => input.index < opening.index && stands(input))) return false
  const { kind, graph, work } = state.projects.getReadonly(task.project)
  const { seed, record, depth } = task
  const chunk = { index: opening.index, bytes: opening.bytes }
  const inputs = opening.inputs.map(({ index, bytes }) => ({ index, bytes }))
  return checks.patch({ projectKind: kind, graph, seed, record, work, depth, chunk, inputs })
}
