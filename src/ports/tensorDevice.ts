/** Numbers on a device, row by row. Made by `allocate` and `view` only; a view ends with what it shows. */
export interface Tensor {
  readonly length: number
}

type Tensors<Names extends string> = Readonly<Record<Names, Tensor>>
type Numbers<Names extends string> = Readonly<Record<Names, number>>

/** C (m by n) = A B^T, `batch` times over tensors that lie one after the other. A is m by k and B is n by k. */
export interface ProductTask extends Tensors<'a' | 'b' | 'c'>, Numbers<'m' | 'n' | 'k'> {
  readonly batch?: number
  /** A lies as k by m instead. */
  readonly aTransposed?: boolean
  /** B lies as n columns of k: k by n instead. */
  readonly bTransposed?: boolean
}

/** `statistics` is mean and inverse deviation per row: 2 * rows values, kept for the way back. */
export type NormTask = Tensors<'from' | 'gain' | 'shift' | 'to' | 'statistics'> & Numbers<'rows' | 'width'>

/** `gradient` is that of the output; the input's, `toFrom`, is added to what is there: the residual stream passes by. */
export type NormBackwardTask = Tensors<'gradient' | 'from' | 'gain' | 'statistics' | 'toFrom' | 'toGain' | 'toShift'> &
  Numbers<'rows' | 'width'>

/**
 * Moves one of `parts` blocks between (batch, tokens, parts, heads, size) and (batch, heads, capacity, size), there at token
 * `start`. `split` goes from the first to the second, `join` back.
 */
export interface HeadsTask
  extends Tensors<'joined' | 'split'>,
    Numbers<'batch' | 'tokens' | 'heads' | 'size' | 'parts' | 'part' | 'capacity' | 'start'> {
  readonly way: 'split' | 'join'
}

/** `batch` matrices of scores, rows by columns, in place; row r sees columns 0 … start + r, the others become 0. */
export type SoftmaxTask = Tensors<'scores'> & Numbers<'batch' | 'rows' | 'columns' | 'start' | 'scale'>

/** `gradient` is that of the probabilities; it becomes that of the scores. */
export type SoftmaxBackwardTask = Tensors<'probabilities' | 'gradient'> & Numbers<'rows' | 'columns' | 'scale'>

/** `words` are batch * tokens, each below the size of the vocabulary; `start` is the position of the first token. */
export type EmbedTask = Tensors<'words' | 'table' | 'positions' | 'to'> &
  Numbers<'batch' | 'tokens' | 'width' | 'start'>

/** `toTable` and `toPositions` are written whole. */
export type EmbedBackwardTask = Tensors<'words' | 'gradient' | 'toTable' | 'toPositions'> &
  Numbers<'batch' | 'tokens' | 'width' | 'vocabulary' | 'context'>

/** `logits`, rows by columns, become their own gradient, divided by `rows`; `losses` has one value per row. */
export type LossTask = Tensors<'logits' | 'targets' | 'losses'> & Numbers<'rows' | 'columns'>

/**
 * `step` is 1 for the first. Gradients are multiplied with `gradientScale` first: one over the number of devices that were
 * summed.
 */
export type AdamTask = Tensors<'parameters' | 'gradients' | 'first' | 'second'> &
  Numbers<'step' | 'rate' | 'gradientScale'>

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
