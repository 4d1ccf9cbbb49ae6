import type { AdamTask, EmbedBackwardTask, EmbedTask, HeadsTask } from '../../../../ports/tensorDevice.ts'
import { type Floats, valuesOf } from './cpuTensor.ts'

const ROOT = Math.sqrt(2 / Math.PI)
const CUBE = 0.044715

/** The tanh form of GELU. */
export function cpuGelu(to: Floats, from: Floats): void {
  for (let i = 0; i < from.length; i++) {
    const x = from[i]!
    to[i] = 0.5 * x * (1 + Math.tanh(ROOT * (x + CUBE * x * x * x)))
  }
}

export function cpuGeluBackward(gradient: Floats, from: Floats): void {
  for (let i = 0; i < from.length; i++) {
    const x = from[i]!
    const t = Math.tanh(ROOT * (x + CUBE * x * x * x))
    const slope = 0.5 * (1 + t) + 0.5 * x * (1 - t * t) * ROOT * (1 + 3 * CUBE * x * x)
    gradient[i]! *= slope
  }
}

export function cpuAddRow(to: Floats, row: Floats, rows: number): void {
  for (let at = 0; at < rows * row.length; at += row.length) for (let i = 0; i < row.length; i++) to[at + i]! += row[i]!
}

export function cpuSumRows(to: Floats, from: Floats, rows: number): void {
  const sums = new Float64Array(to.length)
  for (let at = 0; at < rows * to.length; at += to.length) for (let i = 0; i < to.length; i++) sums[i]! += from[at + i]!
  to.set(sums)
}

export function cpuHeads(task: HeadsTask): void {
  const { way, batch, tokens, heads, size, parts, part, capacity, start } = task
  const joined = valuesOf(task.joined)
  const split = valuesOf(task.split)
  for (let b = 0; b < batch; b++)
    for (let t = 0; t < tokens; t++)
      for (let h = 0; h < heads; h++) {
        const inJoined = (((b * tokens + t) * parts + part) * heads + h) * size
        const inSplit = ((b * heads + h) * capacity + start + t) * size
        if (way === 'split') split.set(joined.subarray(inJoined, inJoined + size), inSplit)
        else joined.set(split.subarray(inSplit, inSplit + size), inJoined)
      }
}

export function cpuEmbed({ words, table, positions, to, batch, tokens, width, start }: EmbedTask): void {
  const [word, row, place, out] = [valuesOf(words), valuesOf(table), valuesOf(positions), valuesOf(to)]
  for (let index = 0; index < batch * tokens; index++) {
    const fromRow = word[index]! * width
    const fromPlace = (start + (index % tokens)) * width
    for (let i = 0; i < width; i++) out[index * width + i] = row[fromRow + i]! + place[fromPlace + i]!
  }
}

export function cpuEmbedBackward(task: EmbedBackwardTask): void {
  const { batch, tokens, width } = task
  const [word, gradient] = [valuesOf(task.words), valuesOf(task.gradient)]
  const rows = valuesOf(task.toTable).fill(0)
  const places = valuesOf(task.toPositions).fill(0)
  for (let index = 0; index < batch * tokens; index++) {
    const toRow = word[index]! * width
    const toPlace = (index % tokens) * width
    for (let i = 0; i < width; i++) {
      rows[toRow + i]! += gradient[index * width + i]!
      places[toPlace + i]! += gradient[index * width + i]!
    }
  }
}

const DECAY1 = 0.9
const DECAY2 = 0.95
const TINY = 1e-8

export function cpuAdam({ parameters, gradients, first, second, step, rate, gradientScale }: AdamTask): void {
  const [p, g, m, v] = [valuesOf(parameters), valuesOf(gradients), valuesOf(first), valuesOf(second)]
  const correction1 = 1 - DECAY1 ** step
  const correction2 = 1 - DECAY2 ** step
  for (let i = 0; i < p.length; i++) {
    const gradient = g[i]! * gradientScale
    m[i] = DECAY1 * m[i]! + (1 - DECAY1) * gradient
    v[i] = DECAY2 * v[i]! + (1 - DECAY2) * gradient * gradient
    p[i]! -= (rate * (m[i]! / correction1)) / (Math.sqrt(v[i]! / correction2) + TINY)
  }
}
