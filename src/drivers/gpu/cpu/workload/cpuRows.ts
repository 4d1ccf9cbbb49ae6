import type {
  LossTask,
  NormBackwardTask,
  NormTask,
  SoftmaxBackwardTask,
  SoftmaxTask,
} from '../../../../ports/tensorDevice.ts'
import { valuesOf } from './cpuTensor.ts'

/** Keeps a row of equal values from being divided by zero. */
const EPSILON = 1e-5

export function cpuNorm({ from, gain, shift, to, statistics, rows, width }: NormTask): void {
  const [x, g, b] = [valuesOf(from), valuesOf(gain), valuesOf(shift)]
  const [y, s] = [valuesOf(to), valuesOf(statistics)]
  for (let row = 0; row < rows; row++) {
    const at = row * width
    let mean = 0
    for (let i = 0; i < width; i++) mean += x[at + i]!
    mean /= width
    let variance = 0
    for (let i = 0; i < width; i++) variance += (x[at + i]! - mean) ** 2
    const inverse = 1 / Math.sqrt(variance / width + EPSILON)
    for (let i = 0; i < width; i++) y[at + i] = (x[at + i]! - mean) * inverse * g[i]! + b[i]!
    s[2 * row] = mean
    s[2 * row + 1] = inverse
  }
}

export function cpuNormBackward(task: NormBackwardTask): void {
  const { rows, width } = task
  const [dy, x, g, s] = [valuesOf(task.gradient), valuesOf(task.from), valuesOf(task.gain), valuesOf(task.statistics)]
  const [dx, dg, db] = [valuesOf(task.toFrom), valuesOf(task.toGain), valuesOf(task.toShift)]
  const gains = new Float64Array(width)
  const shifts = new Float64Array(width)
  for (let row = 0; row < rows; row++) {
    const at = row * width
    const mean = s[2 * row]!
    const inverse = s[2 * row + 1]!
    let sum = 0
    let weighted = 0
    for (let i = 0; i < width; i++) {
      const unit = (x[at + i]! - mean) * inverse
      const upstream = dy[at + i]! * g[i]!
      sum += upstream
      weighted += upstream * unit
      gains[i]! += dy[at + i]! * unit
      shifts[i]! += dy[at + i]!
    }
    for (let i = 0; i < width; i++) {
      const unit = (x[at + i]! - mean) * inverse
      dx[at + i]! += inverse * (dy[at + i]! * g[i]! - sum / width - (unit * weighted) / width)
    }
  }
  dg.set(gains)
  db.set(shifts)
}

export function cpuSoftmax({ scores, batch, rows, columns, start, scale }: SoftmaxTask): void {
  const values = valuesOf(scores)
  for (let index = 0; index < batch * rows; index++) {
    const at = index * columns
    const seen = Math.min(columns, start + (index % rows) + 1)
    let most = Number.NEGATIVE_INFINITY
    for (let i = 0; i < seen; i++) most = Math.max(most, values[at + i]! * scale)
    let sum = 0
    for (let i = 0; i < seen; i++) sum += Math.exp(values[at + i]! * scale - most)
    for (let i = 0; i < seen; i++) values[at + i] = Math.exp(values[at + i]! * scale - most) / sum
    values.fill(0, at + seen, at + columns)
  }
}

export function cpuSoftmaxBackward({ probabilities, gradient, rows, columns, scale }: SoftmaxBackwardTask): void {
  const p = valuesOf(probabilities)
  const d = valuesOf(gradient)
  for (let at = 0; at < rows * columns; at += columns) {
    let dot = 0
    for (let i = 0; i < columns; i++) dot += p[at + i]! * d[at + i]!
    for (let i = 0; i < columns; i++) d[at + i] = p[at + i]! * (d[at + i]! - dot) * scale
  }
}

export function cpuLoss({ logits, targets, losses, rows, columns }: LossTask): void {
  const values = valuesOf(logits)
  const wanted = valuesOf(targets)
  const out = valuesOf(losses)
  for (let row = 0; row < rows; row++) {
    const at = row * columns
    let most = Number.NEGATIVE_INFINITY
    for (let i = 0; i < columns; i++) most = Math.max(most, values[at + i]!)
    let sum = 0
    for (let i = 0; i < columns; i++) sum += Math.exp(values[at + i]! - most)
    const target = wanted[row]!
    out[row] = Math.log(sum) + most - values[at + target]!
    for (let i = 0; i < columns; i++)
      values[at + i] = (Math.exp(values[at + i]! - most) / sum - (i === target ? 1 : 0)) / rows
  }
}
