import { mix32 } from '../../../proof/mix32.ts'

/** Digits as lines of five dots, the highest bit left. */
const GLYPHS = [
  [0x0e, 0x11, 0x13, 0x15, 0x19, 0x11, 0x0e],
  [0x04, 0x0c, 0x04, 0x04, 0x04, 0x04, 0x0e],
  [0x0e, 0x11, 0x01, 0x06, 0x08, 0x10, 0x1f],
  [0x0e, 0x11, 0x01, 0x06, 0x01, 0x11, 0x0e],
  [0x02, 0x06, 0x0a, 0x12, 0x1f, 0x02, 0x02],
  [0x1f, 0x10, 0x1e, 0x01, 0x01, 0x11, 0x0e],
  [0x06, 0x08, 0x10, 0x1e, 0x11, 0x11, 0x0e],
  [0x1f, 0x01, 0x02, 0x04, 0x08, 0x08, 0x08],
  [0x0e, 0x11, 0x11, 0x0e, 0x11, 0x11, 0x0e],
  [0x0e, 0x11, 0x11, 0x0f, 0x01, 0x02, 0x0c],
] as const

export const DIGIT_CLASSES = GLYPHS.length
const SIDE = 8
export const DIGIT_PIXELS = SIDE ** 2
/** How far noise lifts or lowers a dot. */
const NOISE = 1.2

/** Samples by rows, and the class of each. */
export interface Samples {
  readonly data: Float32Array
  readonly labels: Uint32Array
}

/** network.md's task: digits of 5 by 7 dots somewhere on 8 by 8, under noise, drawn from a seed. */
export function drawDigits(count: number, seed: number): Samples {
  const data = new Float32Array(count * DIGIT_PIXELS)
  const labels = new Uint32Array(count)
  let state = seed >>> 0
  const word = () => {
    state = (state + 0x9e3779b9) >>> 0
    return mix32(state)
  }
  for (let i = 0; i < count; i++) {
    const label = word() % DIGIT_CLASSES
    const [left, top] = [word() % 4, word() % 2]
    labels[i] = label
    for (let at = 0; at < DIGIT_PIXELS; at++) {
      const [x, y] = [(at % SIDE) - left, Math.floor(at / SIDE) - top]
      const isInk = x >= 0 && x < 5 && (((GLYPHS[label]![y] ?? 0) >> (4 - x)) & 1) === 1
      data[i * DIGIT_PIXELS + at] = (isInk ? 1 : 0) + NOISE * ((word() >>> 8) * 2 ** -24 - 0.5)
    }
  }
  return { data, labels }
}
