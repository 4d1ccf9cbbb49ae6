import type { NvidiaEvidence } from '../core/attest/nvidiaDevice.ts'
import type { PatchEvidence } from '../core/work/checkPatch.ts'
import type { PatchDraw } from '../core/work/draws.ts'
import type { ProvableSteps } from '../core/work/methods/step/provenWork.ts'
import type { ProvenProducts } from '../core/work/methods/step/restPlan.ts'
import type { Pair } from '../core/work/methods/sumcheck/field.ts'
import type { StateMark } from '../core/work/stateChain.ts'
import type { Work } from '../core/work/work.ts'
import type { WorkKernels } from '../core/work/workKernels.ts'

/** Tensors by name, as their bytes lie in memory. */
export type Tensors = ReadonlyMap<string, Uint8Array>

/**
 * A work under way on a device. Segment -1 is the beginning. `trace` and `open` run a segment again, from the nearest state
 * that was kept before it: the first for the root of every tensor, the second for the patches that were drawn.
 */
export interface WorkRun {
  /** Runs a segment from the present state on. */
  advance(segment: number): Promise<StateMark>
  /** W3.8. What one shard of a segment's one transition makes from the present state, which stays as it is. */
  makeShard(segment: number, shard: number): Promise<Tensors>
  /** The rest of that transition, from what all shards made on whatever device: the next state, as `advance` has it. */
  joinShards(segment: number, made: Tensors): Promise<StateMark>
  /** Keeps the present state as that after `segment`. */
  keep(segment: number): Promise<void>
  /** A tensor of the present state. */
  read(name: string): Promise<Uint8Array>
  trace(segment: number): Promise<readonly Uint8Array[]>
  open(segment: number, draws: readonly PatchDraw[]): Promise<readonly PatchEvidence[]>
  /** One whole output of a step: what a dispute asks for. */
  outputOf(segment: number, at: Omit<PatchDraw, 'patch'>, output: number): Promise<Uint8Array>
  /** A matrix of int8 that was given, met with the weights of its rows at a point: what a sumcheck begins with (W8.4.1). */
  gather(name: string, point: readonly Pair[]): Promise<Uint8Array>
  /** Proofs of segments by sumcheck (W12.5). Only on a device that can. */
  proveSteps?(products: ProvenProducts): ProvableSteps
}

/** A thing that does works, each step of them with the bits of the specification. */
export interface WorkDevice {
  readonly name: string
  /** Whether its runs have `proveSteps`. */
  readonly provesSteps?: boolean
  /** Throws a WorkRefusal where what is given is not what the specification names. */
  start(work: Work<WorkKernels>, given: Tensors): Promise<WorkRun>
  /** Has the device sign a nonce; null where it does not this time. Only where it can. */
  attest?(nonce: Uint8Array): Promise<NvidiaEvidence | null>
  close(): Promise<void>
}
