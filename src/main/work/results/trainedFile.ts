import type { TensorShape } from '../../../core/work/tensor.ts'

/** In a file of a state: how many steps made it. */
export const DONE = 'touchstone.done'
/** Beside weights: the roots of their moments, in the order of the state. */
export const MOMENT_ROOTS = 'touchstone.momentRoots'

/** Whether a tensor of the state is a moment of a parameter, and no parameter. */
export const isMoment = (name: string): boolean => name.includes('/')

/** The sizes of a tensor in such a file: the same bytes in others are another matrix to whoever loads it. */
export const dimsOf = ({ rows, width }: TensorShape): readonly number[] => (rows === 1 ? [width] : [rows, width])
/** The number under `DONE`. */
export const encodeDone = (steps: number): Uint8Array => new Uint8Array(Float32Array.of(steps).buffer)
