/** §4. 1 ut is 1/200 of a day at 10^9 floating point operations a second; the chain counts in millionths of it. */
export const MICRO_UT_PER_UT = 1_000_000n
export const FLOP_PER_MICRO_UT = 432_000n

/** What an operation counts for, in eighths of an fp32 one. fp64 (16), fp16 and bf16 (2) and fp8 (1) are reserved: no kind of task proves them yet. */
const EIGHTHS = { fp32: 8n, int32: 8n, int8: 1n } as const

export type CreditedKind = keyof typeof EIGHTHS

/** Multiplications and additions of a task by kind. */
export type Operations = Readonly<Partial<Record<CreditedKind, bigint>>>

/** Work of so many operations, in µut, rounded down once at the end. */
export function workOf(operations: Operations): bigint {
  const kinds = Object.keys(EIGHTHS) as CreditedKind[]
  const eighths = kinds.reduce((sum, kind) => sum + EIGHTHS[kind] * (operations[kind] ?? 0n), 0n)
  return eighths / (8n * FLOP_PER_MICRO_UT)
}

/** Operations of a training step, counted from the graph; what works element by element counts 0. */
export const flop = {
  dense: (batch: bigint, inputs: bigint, outputs: bigint): bigint => 2n * batch * inputs * outputs,
  /** The gradient of the weights and that of the input; the first layer has no use for the latter. */
  denseBackward: (batch: bigint, inputs: bigint, outputs: bigint, isFirst: boolean): bigint =>
    (isFirst ? 2n : 4n) * batch * inputs * outputs,
  convolution: ({ batch, outputs, height, width, inputs, kernel }: Convolution): bigint =>
    2n * batch * outputs * height * width * inputs * kernel * kernel,
  attention: (batch: bigint, tokens: bigint, width: bigint): bigint => 4n * batch * tokens * tokens * width,
  /** A token sees itself and those before it. */
  causalAttention: (batch: bigint, tokens: bigint, width: bigint): bigint =>
    2n * batch * tokens * (tokens + 1n) * width,
} as const

/** Channels in and out, height and width of the output, side of the kernel. */
export interface Convolution {
  readonly batch: bigint
  readonly outputs: bigint
  readonly height: bigint
  readonly width: bigint
  readonly inputs: bigint
  readonly kernel: bigint
}

/** For a price before anything ran, never for credit: the usual operations of a training over so many tokens. */
export const estimatedFlop = {
  training: (parameters: bigint, tokens: bigint): bigint => 6n * parameters * tokens,
  /** The frozen weights need no gradient of their own. */
  lora: (parameters: bigint, tokens: bigint): bigint => 4n * parameters * tokens,
  /** What attention adds, all tokens in contexts of one length. */
  attention: (layers: bigint, width: bigint, context: bigint, tokens: bigint): bigint =>
    12n * layers * width * context * tokens,
} as const
