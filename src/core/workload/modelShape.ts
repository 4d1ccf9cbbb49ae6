/** A decoder-only transformer over bytes: learned positions, norm before each block, GELU, an output head of its own. */
export interface ModelShape {
  /** Tokens are bytes, so 256. */
  readonly vocabulary: number
  /** Most tokens in a sequence. */
  readonly context: number
  readonly width: number
  readonly layers: number
  readonly heads: number
}

export type ModelName = 'tiny' | 'small' | 'medium' | 'large'

/** `tiny` is for tests and CPUs; the others have the inner sizes of the GPT-2 family and its successors. */
export const MODEL_SHAPES: Readonly<Record<ModelName, ModelShape>> = {
  tiny: { vocabulary: 256, context: 32, width: 32, layers: 2, heads: 2 },
  small: { vocabulary: 256, context: 1024, width: 768, layers: 12, heads: 12 },
  medium: { vocabulary: 256, context: 1024, width: 1024, layers: 24, heads: 16 },
  large: { vocabulary: 256, context: 1024, width: 2048, layers: 24, heads: 16 },
}

export const headSize = ({ width, heads }: ModelShape): number => width / heads
