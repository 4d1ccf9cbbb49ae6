import type { Opening } from './checkOpening.ts'
import { resultLeaf, traceLeaf, treePath, treeRoot } from './resultTree.ts'

/** What an account found for a task, with both trees over it. */
export interface DrillResult {
  readonly chunks: readonly Uint8Array[]
  readonly leaves: readonly Uint8Array[]
  readonly traces: readonly Uint8Array[]
  readonly shown: { readonly resultRoot: Uint8Array; readonly traceRoot: Uint8Array; readonly live: number }
}

/** The trees of an account over its chunks, 2^depth of them. */
export function drillResult(account: Uint8Array, chunks: readonly Uint8Array[], live: number): DrillResult {
  const leaves = chunks.map((bytes, index) => resultLeaf(index, bytes))
  const traces = chunks.map((bytes, index) => traceLeaf(account, index, bytes))
  return { chunks, leaves, traces, shown: { resultRoot: treeRoot(leaves), traceRoot: treeRoot(traces), live } }
}

/** A chunk with its ways to both roots; chunks that are made of the seed alone have no inputs. */
export const openingAt = ({ chunks, leaves, traces }: DrillResult, index: number): Opening => ({
  ...{ index, bytes: chunks[index]!, inputs: [] },
  ...{ resultPath: treePath(leaves, index), tracePath: treePath(traces, index) },
})

/** The hashes of a level of the result's tree, counted from the root, from a place on. */
export function nodesBelow({ leaves }: DrillResult, depth: number, from: number, count: number): Uint8Array[] {
  const span = leaves.length / 2 ** depth
  return Array.from({ length: count }, (_, i) => treeRoot(leaves.slice((from + i) * span, (from + i + 1) * span)))
}
