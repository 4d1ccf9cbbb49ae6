import type { Region, TensorShape } from './tensor.ts'

/** Whole numbers that a step is given; a float as its bits, so that it has one spelling. */
export type Numbers = Readonly<Record<string, number>>

/** A tensor in memory: where it begins, and what it is. */
export interface Place {
  readonly at: number
  readonly shape: TensorShape
}

/** A step on tensors in memory, whole or gathered. */
export interface OpCall {
  readonly inputs: readonly Place[]
  readonly outputs: readonly Place[]
  readonly numbers: Numbers
  /** Where `scratchBytes` are free, zeroed. */
  readonly scratch: number
}

/** A step with the shapes of everything it touches. */
export interface ShapedStep {
  readonly inputs: readonly TensorShape[]
  readonly outputs: readonly TensorShape[]
  readonly numbers: Numbers
}

/**
 * The least piece of a step that can be recomputed alone: the parts of its outputs, the parts of its inputs that these need,
 * and the numbers under which the gathered parts give the same bits as the whole.
 */
export interface Patch {
  readonly outputs: readonly Region[]
  /**
   * Several regions, of the same columns, lie one after the other; a row that is looked up, where the inputs before say.
   * `held`: all of a tensor that was handed in. It is not opened: whoever checks must have it.
   */
  readonly inputs: readonly (Region | readonly Region[] | 'held' | ((before: readonly Uint8Array[]) => Region))[]
  readonly numbers: Numbers
}

/** Some of the patches of a step, in their order. */
export interface SomePatches {
  readonly count: number
  at(index: number): number
}

/** One kind of step. `K` are the kernels it runs on: the same function serves a device and a checker. */
export interface Op<K> {
  /** Throws a WorkRefusal where inputs and numbers do not fit each other. */
  outputs(inputs: readonly TensorShape[], numbers: Numbers): readonly TensorShape[]
  /** Operations by the definition of the step, whatever a device does to get there. */
  operations(step: ShapedStep): number
  /** How many patches there are. */
  patches(step: ShapedStep): number
  patch(step: ShapedStep, index: number): Patch
  /** W4.3.4. Those that the step itself makes, where it copies the others: nearly every patch of it would show a copy. */
  fresh?(step: ShapedStep): SomePatches
  /** The patch that makes this element of an output. */
  patchAt(step: ShapedStep, output: number, row: number, column: number): number
  /** Not 0 where something was written that is no number (W2.6). */
  run(kernels: K, call: OpCall): number
  scratchBytes?(step: ShapedStep): number
  /** W4.5, the live rule: how much of a gathered patch, whose inputs are given as bytes, is work that anyone could skip. */
  deadShare?(inputs: readonly Uint8Array[], outputs: readonly Uint8Array[], numbers: Numbers): number
}
