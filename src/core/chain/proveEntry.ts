import { createProof, ProofType } from '@chainsafe/persistent-merkle-tree'
import type { ChainState } from './chainState.ts'
import type { LightProof } from './lightProof.ts'
import { StateType } from './stateType.ts'
import { rootOf } from './treeRoot.ts'

/** Names of fields and places in lists, from the state down, such as `['accounts', 'stake', 7]`. */
export type EntryPath = readonly (string | number)[]

/** Where an entry stands. Who checks a proof works this out itself, and never takes it from the proof. */
export const gindexOf = (path: EntryPath): bigint => StateType.getPathInfo([...path]).gindex

/** The proof of one entry: a number shares its leaf with its neighbours, other values are the root of their fields. */
export function proveEntry({ view }: ChainState, path: EntryPath): LightProof {
  rootOf(view)
  const gindex = gindexOf(path)
  const proof = createProof(view.node, { type: ProofType.single, gindex })
  if (proof.type !== ProofType.single) throw new TypeError('asked for a single proof')
  return { gindex, leaf: proof.leaf, witnesses: proof.witnesses }
}
