import type { Numbers } from '../op.ts'
import { requireThat } from '../refusals.ts'
import type { TensorShape } from '../tensor.ts'
import { elementAt, floatOf, requireTypes, requireWhole, rowAt, type WorkOp } from './shapes.ts'

/** Pixels along the side of a tile, and floats in one. */
export const TILE_SIDE = 8
const TILE_PIXELS = TILE_SIDE ** 2
const TILE_WIDTH = 3 * TILE_PIXELS
/** Words of a triangle, a material, a node of the tree and the camera. */
export const TRIANGLE_WORDS = 12
export const MATERIAL_WORDS = 8
export const NODE_WORDS = 8
export const CAMERA_WORDS = 12

const SKY = ['zenithR', 'zenithG', 'zenithB', 'horizonR', 'horizonG', 'horizonB'] as const

const words = (bytes: Uint8Array): Float32Array => new Float32Array(new Uint8Array(bytes).buffer)

/** Triangles, kinds, materials, nodes, camera. */
function requireScene(inputs: readonly TensorShape[]): void {
  requireTypes('picture', inputs, ['f32', 'u32', 'f32', 'f32', 'f32'])
  const widths = [TRIANGLE_WORDS, 1, MATERIAL_WORDS, NODE_WORDS, CAMERA_WORDS]
  requireThat(
    inputs.every(({ width }, i) => width === widths[i]) && inputs[1]!.rows === inputs[0]!.rows,
    'BAD_SHAPE',
    'a scene that is none',
  )
}

/** W7. One row of tiles of a picture; the second output counts their rays. */
const picture: WorkOp = {
  outputs(inputs, numbers) {
    requireScene(inputs)
    const { width, row, samples, bounces, epsilon, key0, key1 } = numbers
    requireWhole('picture', width, row, samples, bounces, epsilon, key0, key1, ...SKY.map((part) => numbers[part]))
    requireThat(width! > 0 && width! % TILE_SIDE === 0, 'BAD_SHAPE', 'a picture in parts of tiles')
    const tiles = width! / TILE_SIDE
    return [
      { type: 'f32', rows: tiles, width: TILE_WIDTH },
      { type: 'f32', rows: 1, width: tiles },
    ]
  },
  // Paths: how many rays they take is an output, and a figure of the work.
  operations: ({ outputs, numbers }) => outputs[0]!.rows * TILE_PIXELS * numbers.samples!,
  patches: ({ outputs }) => outputs[0]!.rows,
  patchAt: (_, output, row, column) => (output === 0 ? row : column),
  patch: ({ inputs, outputs, numbers }, tile) => ({
    outputs: [rowAt(outputs[0]!, tile), elementAt(0, tile)],
    inputs: inputs.map(() => 'held' as const),
    numbers: { ...numbers, first: tile },
  }),
  run(kernels, { inputs, outputs, numbers }) {
    const [triangles, kinds, materials, nodes, camera] = inputs.map(({ at }) => at) as [
      number,
      number,
      number,
      number,
      number,
    ]
    const counts = [inputs[0]!, inputs[2]!, inputs[3]!].map(({ shape }) => shape.rows)
    const { width, row, first = 0, samples, bounces, epsilon, key0, key1 } = numbers
    const tiles = outputs[0]!.shape.rows
    const floats = [epsilon!, ...SKY.map((part) => numbers[part]!)].map(floatOf)
    const rest = [...counts, width!, row!, first, tiles, samples!, bounces!, ...floats, key0!, key1!]
    return kernels.picture(triangles, kinds, materials, nodes, camera, outputs[0]!.at, outputs[1]!.at, ...rest)
  },
  /** W7.5.4. Most paths ended with their first ray: one hit in a tile would else pay for all of it (attack 206). */
  deadShare: (_, [, rays], { samples }: Numbers) => Number(words(rays!)[0]! < 1.5 * TILE_PIXELS * samples!),
}

/** Ops of pictures (W7). */
export const pictureOps = { picture } as const satisfies Record<string, WorkOp>
