import * as z from 'zod'
import { words32 } from '../../../bytes/bytes.ts'
import type { Kind, Turn } from '../../kind.ts'
import { CAMERA_WORDS, MATERIAL_WORDS, NODE_WORDS, TILE_SIDE, TRIANGLE_WORDS } from '../../ops/picture.ts'
import { floatOf } from '../../ops/shapes.ts'
import { type Program, type Step, TOLD } from '../../program.ts'
import { requireThat } from '../../refusals.ts'
import type { TensorShape } from '../../tensor.ts'
import { buildTree } from './tree.ts'

const side = z.int().min(TILE_SIDE).max(16_384).multipleOf(TILE_SIDE)
const bits = z.int().min(0).max(0xffffffff)
const light = bits.refine((value) => floatOf(value) >= 0 && floatOf(value) <= 1e6)
const colour = z.tuple([light, light, light])

const parameters = z
  .strictObject({
    width: side,
    height: side,
    samples: z.int().min(1).max(4096),
    /** After the first hit; a path has one ray more. */
    bounces: z.int().min(1).max(16),
    triangles: z
      .int()
      .min(1)
      .max(2 ** 20),
    materials: z.int().min(1).max(65_536),
    /** How far from a surface its next ray begins. Floats are given by their bits. */
    epsilon: bits.refine((value) => floatOf(value) > 0 && floatOf(value) < 1),
    /** Light from above, and from around. */
    zenith: colour,
    horizon: colour,
  })
  // Rays of a row of tiles stay whole numbers as f32.
  .refine(({ width, samples, bounces }) => width * TILE_SIDE * samples * (bounces + 1) <= 2 ** 24)

export type PictureParameters = z.infer<typeof parameters>

const givenOf = ({ triangles, materials }: PictureParameters): ReadonlyMap<string, TensorShape> =>
  new Map([
    ['triangles', { type: 'f32', rows: triangles, width: TRIANGLE_WORDS }],
    ['kinds', { type: 'u32', rows: triangles, width: 1 }],
    ['materials', { type: 'f32', rows: materials, width: MATERIAL_WORDS }],
    ['nodes', { type: 'f32', rows: 2 * triangles - 1, width: NODE_WORDS }],
    ['camera', { type: 'f32', rows: 1, width: CAMERA_WORDS }],
  ])

const floatsOf = (bytes: Uint8Array) => new Float32Array(new Uint8Array(bytes).buffer)

/** Coordinates and light stay where no sum or product of theirs leaves the range of f32. */
const LARGEST = 2 ** 20

function requireGiven(given: ReadonlyMap<string, Uint8Array>): void {
  for (const name of ['triangles', 'materials', 'camera']) {
    const isSane = floatsOf(given.get(name)!).every((value) => Math.abs(value) <= LARGEST)
    requireThat(isSane, 'BAD_INPUT', `${name} has a number beyond 2^20, or one that is none`)
  }
  const kinds = new Uint32Array(new Uint8Array(given.get('kinds')!).buffer)
  const materials = given.get('materials')!.length / (4 * MATERIAL_WORDS)
  requireThat(
    kinds.every((kind) => kind < materials),
    'BAD_INPUT',
    'a triangle has no material',
  )
  const nodes = floatsOf(given.get('nodes')!)
  const built = buildTree(floatsOf(given.get('triangles')!))
  const isBuilt = built.every((value, i) => Object.is(value, nodes[i]))
  requireThat(isBuilt, 'BAD_INPUT', 'nodes are not the tree of these triangles')
}

function transition(said: PictureParameters, { transition: number, seed }: Turn): Program {
  const [key0, key1] = words32(seed)
  const [zenithR, zenithG, zenithB] = said.zenith
  const [horizonR, horizonG, horizonB] = said.horizon
  const { width, samples, bounces, epsilon } = said
  const sky = { zenithR, zenithG, zenithB, horizonR, horizonG, horizonB }
  const numbers = { width, row: number - 1, samples, bounces, epsilon, ...sky, key0: key0!, key1: key1! }
  const inputs = [...givenOf(said).keys()]
  const steps: Step[] = [
    { op: 'picture', inputs, outputs: ['made', 'counted'], numbers },
    { op: 'rowSum', inputs: ['counted'], outputs: ['total'], numbers: {}, needed: TOLD },
  ]
  return { there: givenOf(said), steps, after: ['made', 'counted'], statistics: ['total'] }
}

/** A path tracer over triangles: a row of tiles each transition, which do not build on each other. Figure: rays. */
export const rendering: Kind<PictureParameters> = {
  name: 'rendering',
  parameters,
  isIndependent: true,
  maxInterval: 1,
  requireTransitions({ height }, transitions) {
    const wanted = height / TILE_SIDE
    requireThat(transitions === wanted, 'BAD_SPEC', `${height} rows of pixels are ${wanted} transitions`)
  },
  given: givenOf,
  requireGiven,
  state: ({ width }) =>
    new Map([
      ['picture', { type: 'f32', rows: width / TILE_SIDE, width: 3 * TILE_SIDE ** 2 }],
      ['rays', { type: 'f32', rows: 1, width: width / TILE_SIDE }],
    ]),
  begin: () => ({ there: new Map(), steps: [], after: [], statistics: [] }),
  transition,
  unit: 'paths',
  figures: ['rays'],
  guarantees: [
    'A share x of tiles that were not computed passes 128 openings with (1 - x)^128.',
    'Whoever checks must have the scene; without it nothing of the picture is shown.',
    'The scene says nothing about the seed: who knows the seed early can compute early.',
  ],
}
