import { equalBytes } from '../bytes/bytes.ts'
import type { TensorHasher } from './engineRun.ts'
import { stateRoot } from './stateChain.ts'
import { type TensorShape, tensorBytes } from './tensor.ts'
import type { Work } from './work.ts'

/** Tensors of the state after a segment; where transitions do not build on each other, the last may have fewer rows. */
export function stateShapes<K>(work: Work<K>, segment: number): ReadonlyMap<string, TensorShape> {
  if (!work.isIndependent) return work.state
  const { shapes, after } = work.transition(work.ends[segment]!)
  return new Map([...work.state.keys()].map((name, i) => [name, shapes.get(after[i]!)!]))
}

/**
 * W4.7. Whether tensors are those of a committed state. Of a tensor that is not at hand its root must be in `beside`, where
 * such roots stand in the order of the state.
 */
export function isCommittedState<K>(
  work: Work<K>,
  segment: number,
  committed: Uint8Array,
  tensors: ReadonlyMap<string, Uint8Array>,
  hasher: Pick<TensorHasher, 'root'>,
  beside: readonly Uint8Array[] = [],
): boolean {
  let next = 0
  const roots = [...stateShapes(work, segment)].map(([name, shape]) => {
    const bytes = tensors.get(name)
    if (!bytes) return beside[next++]
    return bytes.length === tensorBytes(shape) ? hasher.root(shape, bytes) : undefined
  })
  if (next !== beside.length || roots.includes(undefined)) return false
  return equalBytes(stateRoot(roots as Uint8Array[]), committed)
}
