import type { FlowField } from './lattice.ts'
import type { FlowParameters } from './simulation.ts'

/** A picture of bytes, rows from the top, red, green, blue. */
export interface RgbPicture {
  readonly width: number
  readonly height: number
  readonly rgb: Uint8Array
}

/** From still to fastest: black, blue, cyan, yellow, white. */
const COLOURS = [
  [0, 0, 0],
  [20, 40, 160],
  [30, 190, 200],
  [250, 220, 60],
  [255, 255, 255],
] as const
const OBSTACLE = [96, 96, 96] as const

function colourOf(share: number): readonly number[] {
  const at = Math.min(Math.max(share, 0), 1) * (COLOURS.length - 1)
  const low = Math.min(Math.floor(at), COLOURS.length - 2)
  return COLOURS[low]!.map((value, i) => Math.round(value + (COLOURS[low + 1]![i]! - value) * (at - low)))
}

/** The speed in one plane of z, y upwards; white is `fastest`, or the fastest cell of the plane. Shown, not proven. */
export function slicePicture(
  { cells: [width, height] }: Pick<FlowParameters, 'cells'>,
  { density, velocity }: FlowField,
  z: number,
  fastest?: number,
): RgbPicture {
  const at = (x: number, y: number) => (z * height + y) * width + x
  const speedAt = (index: number) => Math.hypot(...velocity.map((along) => along[index]!))
  const speeds = Array.from({ length: width * height }, (_, i) => speedAt(at(i % width, Math.floor(i / width))))
  const top = fastest ?? speeds.reduce((most, speed) => Math.max(most, speed), 1e-30)
  const rgb = new Uint8Array(3 * width * height)
  for (const [i, speed] of speeds.entries()) {
    const [x, y] = [i % width, Math.floor(i / width)]
    rgb.set(density[at(x, y)] === 0 ? OBSTACLE : colourOf(speed / top), 3 * ((height - 1 - y) * width + x))
  }
  return { width, height, rgb }
}
