import type { Pointer } from '../../engine/kernels.ts'

/** Products of integers, and the way from floats to them and back (W2.1, W2.2, W2.6). As `WorkKernels` has them. */
export interface ProductKernels {
  /** W2.1. Batches of a[rows][k] b[columns][k]^T as i32; `shared` batches in a row have the same b; `first` row of a mask. */
  product(
    a: Pointer,
    b: Pointer,
    out: Pointer,
    rows: number,
    columns: number,
    k: number,
    batches: number,
    shared: number,
    mask: number,
    first: number,
  ): number
  /** W2.1.4. Batches of a[rows][k], scales[rows][pieces], b[columns][k] to f32 [rows][columns]; `shared` as in a product. */
  productPieces(
    a: Pointer,
    scales: Pointer,
    b: Pointer,
    out: Pointer,
    rows: number,
    columns: number,
    k: number,
    piece: number,
    batches: number,
    shared: number,
  ): number

  /** W2.2.2. One scale for each row and piece. */
  rowScale(
    x: Pointer,
    foldOrNone: Pointer,
    scales: Pointer,
    rows: number,
    width: number,
    piece: number,
    first: number,
    rowsEach: number,
  ): number
  /** W2.2.3. To nearest even. */
  quantise(
    x: Pointer,
    foldOrNone: Pointer,
    scales: Pointer,
    out: Pointer,
    rows: number,
    width: number,
    piece: number,
    first: number,
    rowsEach: number,
  ): number
  /** W2.2.4. Element (i, j) has the lane index + i * stride + j: rows of a part lie as far apart as in the whole. */
  quantiseStochastic(
    x: Pointer,
    foldOrNone: Pointer,
    scales: Pointer,
    out: Pointer,
    rows: number,
    width: number,
    piece: number,
    first: number,
    rowsEach: number,
    key0: number,
    key1: number,
    tensor: number,
    transition: number,
    index: number,
    stride: number,
  ): number
  /** W2.2.6. (((sum * row) * column) * factor) + bias. */
  dequantise(
    sums: Pointer,
    rowScales: Pointer,
    columnScalesOrNone: Pointer,
    biasOrNone: Pointer,
    out: Pointer,
    rows: number,
    width: number,
    first: number,
    rowsEach: number,
    factor: number,
  ): number
  /** W2.6. For tensors that came from outside. */
  faultyFloats(x: Pointer, count: number): number
  faultyBytes(x: Pointer, count: number): number
}
