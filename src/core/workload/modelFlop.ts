import type { ModelShape } from './modelShape.ts'

/** Elements of all matrices a token is multiplied with; embeddings are looked up, not multiplied. */
export const multipliedParameters = ({ vocabulary, width, layers }: ModelShape): number =>
  layers * 12 * width * width + vocabulary * width

/**
 * Operations of one token at `position`, counted as the model needs them, not as a program spends them: two per multiplied
 * parameter, and two for each score and each weighted value of the tokens it attends to. Norms and the like are left out.
 */
export const forwardFlopAt = (shape: ModelShape, position: number): number =>
  2 * multipliedParameters(shape) + 4 * shape.layers * shape.width * (position + 1)

/** `tokens` in a row from `start`. */
export function forwardFlop(shape: ModelShape, start: number, tokens: number): number {
  const attended = tokens * start + (tokens * (tokens + 1)) / 2
  return 2 * multipliedParameters(shape) * tokens + 4 * shape.layers * shape.width * attended
}

/** The backward pass multiplies every matrix twice more: once for its gradient, once for that of its input. */
export const trainingFlop = (shape: ModelShape, sequences: number, tokens: number): number =>
  3 * sequences * forwardFlop(shape, 0, tokens)
