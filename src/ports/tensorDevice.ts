/** Numbers on a device, row by row. Made by `allocate` and `view` only; a view ends with what it shows. */
export interface Tensor {
  readonly length: number
}

/** C (m by n) = A B^T, `batch` times over tensors that lie one after the other. A is m by k and B is n by k. */
export interface ProductTask {
  readonly c: Tensor
  readonly a: Tensor
  readonly b: Tensor
  readonly m: number
  readonly n: number
  readonly k: number
  readonly batch?: number
  /** A lies as k by m instead. */
  readonly aTransposed?: boolean
  /** B lies as n columns of k: k by n instead. */
  readonly bTransposed?: boolean
}

export interface NormTask {
  readonly from: Tensor
  readonly gain: Tensor
  readonly shift: Tensor
  readonly to: Tensor
  /** Mean and inverse deviation per row: 2 * rows values, kept for the way back. */
  readonly statistics: Tensor
  readonly rows: number
  readonly width: number
}

export interface NormBackwardTask {
  /** Gradient of the output. */
  readonly gradient: Tensor
  readonly from: Tensor
  readonly gain: Tensor
  readonly statistics: Tensor
  /** The input's gradient is added to what is there: the residual stream passes by. */
  readonly toFrom: Tensor
  readonly toGain: Tensor
  readonly toShift: Tensor
  readonly rows: number
  readonly width: number
}

/**
 * Moves one of `parts` blocks between (batch, tokens, parts, heads, size) and (batch, heads, capacity, size), there at token
 * `start`. `split` goes from the first to the second, `join` back.
 */
export interface HeadsTask {
  readonly way: 'split' | 'join'
  readonly joined: Tensor
  readonly split: Tensor
  readonly batch: number
  readonly tokens: number
  readonly heads: number
  readonly size: number
  readonly parts: number
  readonly part: number
  readonly capacity: number
  readonly start: number
}

/** `batch` matrices of scores, rows by columns, in place; row r sees columns 0 … start + r, the others become 0. */
export interface SoftmaxTask {
  readonly scores: Tensor
  readonly batch: number
  readonly rows: number
  readonly columns: number
  readonly start: number
  readonly scale: number
}

export interface SoftmaxBackwardTask {
  readonly probabilities: Tensor
  /** Gradient of the probabilities; becomes that of the scores. */
  readonly gradient: Tensor
  readonly rows: number
  readonly columns: number
  readonly scale: number
}

export interface EmbedTask {
  /** batch * tokens words, each below `vocabulary`. */
  readonly words: Tensor
  readonly table: Tensor
  readonly positions: Tensor
  readonly to: Tensor
  readonly batch: number
  readonly tokens: number
  readonly width: number
  /** Position of the first token. */
  readonly start: number
}

export interface EmbedBackwardTask {
  readonly words: Tensor
  readonly gradient: Tensor
  /** Both are written whole. */
  readonly toTable: Tensor
  readonly toPositions: Tensor
  readonly batch: number
  readonly tokens: number
  readonly width: number
  readonly vocabulary: number
  readonly context: number
}

export interface LossTask {
  /** rows by columns; becomes its own gradient, divided by `rows`. */
  readonly logits: Tensor
  readonly targets: Tensor
  /** One value per row. */
  readonly losses: Tensor
  readonly rows: number
  readonly columns: number
}

export interface AdamTask {
  readonly parameters: Tensor
  readonly gradients: Tensor
  readonly first: Tensor
  readonly second: Tensor
  /** 1 for the first step. */
  readonly step: number
  readonly rate: number
  /** Gradients are multiplied with it first: one over the number of devices that were summed. */
  readonly gradientScale: number
}

/**
 * A device that trains and runs a model. Calls are queued in order and return at once; `read` and `settle` wait. Products
 * may round their operands (see `operands`) and accumulate in f32 at least. Nothing here is proven: it is measured.
 */
export interface TensorDevice {
  readonly name: string
  /** What products round their operands to. */
  readonly operands: 'f64' | 'f32' | 'bf16'
  /** Zeros. */
  allocate(length: number): Tensor
  view(tensor: Tensor, offset: number, length: number): Tensor
  free(tensor: Tensor): void
  write(tensor: Tensor, values: Float32Array): void
  /** Whole numbers for `embed` and `loss`, in the same 32 bits an element has. */
  writeWords(tensor: Tensor, values: Int32Array): void
  read(tensor: Tensor): Promise<Float32Array>
  zero(tensor: Tensor): void
  /** From a tensor of this device or of another of the same kind. */
  copy(to: Tensor, from: Tensor): void
  product(task: ProductTask): void
  add(to: Tensor, from: Tensor): void
  /** Adds one row to each of the first `rows`. */
  addRow(to: Tensor, row: Tensor, rows: number): void
  /** `to` is as long as one row. */
  sumRows(to: Tensor, from: Tensor, rows: number): void
  norm(task: NormTask): void
  normBackward(task: NormBackwardTask): void
  gelu(to: Tensor, from: Tensor): void
  /** `gradient` of the output becomes that of the input. */
  geluBackward(gradient: Tensor, from: Tensor): void
  heads(task: HeadsTask): void
  softmax(task: SoftmaxTask): void
  softmaxBackward(task: SoftmaxBackwardTask): void
  embed(task: EmbedTask): void
  embedBackward(task: EmbedBackwardTask): void
  loss(task: LossTask): void
  adam(task: AdamTask): void
  settle(): Promise<void>
  close(): Promise<void>
}
