import { type FlowField, fieldOf } from '../../../core/work/kinds/simulation/lattice.ts'
import type { FlowParameters } from '../../../core/work/kinds/simulation/simulation.ts'
import { type RgbPicture, slicePicture } from '../../../core/work/kinds/simulation/slice.ts'
import { floatOf } from '../../../core/work/ops/shapes.ts'
import { encodeNpyFloats } from '../../../drivers/workFiles/npy.ts'
import type { Tensors } from '../../../ports/workDevice.ts'

/** What the picture of the state after a segment is called. */
export const pictureName = (segment: number): string => `flow-${String(segment + 1).padStart(6, '0')}.png`

/** Density and velocity of every cell: an array of 4 by z by y by x. */
export function encodeField(said: FlowParameters, state: Tensors): Uint8Array {
  const [nx, ny, nz] = said.cells
  const { density, velocity } = fieldIn(said, state)
  const values = new Float32Array(4 * density.length)
  for (const [i, part] of [density, ...velocity].entries()) values.set(part, i * density.length)
  return encodeNpyFloats([4, nz, ny, nx], values)
}

/** The plane in the middle; white is twice the speed of the stream. */
export const pictureOf = (said: FlowParameters, state: Tensors): RgbPicture =>
  slicePicture(said, fieldIn(said, state), said.cells[2] / 2, 2 * floatOf(said.velocity[0]))

const fieldIn = (said: FlowParameters, state: Tensors): FlowField => fieldOf(said, state.get('populations')!)
