import { MATERIAL_WORDS, TRIANGLE_WORDS } from '../../ops/picture.ts'
import { buildTree } from './tree.ts'

export type Vector = readonly [x: number, y: number, z: number]

/** What a surface does with light: scatter it, mirror it (roughly), or let it through. */
export interface Material {
  readonly colour: Vector
  readonly emission: Vector
  readonly roughness: number
  readonly sort: 'diffuse' | 'metal' | 'glass'
}

export interface Camera {
  readonly eye: Vector
  readonly target: Vector
  /** From the top of the picture to its bottom, in degrees. */
  readonly fieldOfView: number
}

export interface Scene {
  /** Corners against the clock, seen from outside, and the place of a material. */
  readonly triangles: readonly { readonly corners: readonly [Vector, Vector, Vector]; readonly material: number }[]
  readonly materials: readonly Material[]
  readonly camera: Camera
}

const SORTS = { diffuse: 0, metal: 1, glass: 2 } as const

const minus = (a: Vector, b: Vector): Vector => [a[0] - b[0], a[1] - b[1], a[2] - b[2]]
const cross = (a: Vector, b: Vector): Vector => [
  a[1] * b[2] - a[2] * b[1],
  a[2] * b[0] - a[0] * b[2],
  a[0] * b[1] - a[1] * b[0],
]
const times = (a: Vector, factor: number): Vector => [a[0] * factor, a[1] * factor, a[2] * factor]
const unit = (a: Vector): Vector => times(a, 1 / (Math.hypot(...a) || 1))

const bytesOf = (values: Float32Array | Uint32Array) => new Uint8Array(values.buffer)

/** W7.3.1. The eye, the way to the upper left corner, and what a pixel to the right and one down add. */
function cameraWords({ eye, target, fieldOfView }: Camera, width: number, height: number): readonly number[] {
  const forward = unit(minus(target, eye))
  const right = unit(cross(forward, [0, 1, 0]))
  const down = cross(forward, right)
  const tall = 2 * Math.tan((fieldOfView * Math.PI) / 360)
  const pixel = tall / height
  const corner = forward.map((along, i) => along - (right[i]! * pixel * width + down[i]! * pixel * height) / 2)
  return [...eye, ...corner, ...times(right, pixel), ...times(down, pixel)]
}

/** The tensors of a scene, as a work is given them, with the tree that the text makes of it. */
export function sceneTensors(
  { triangles, materials, camera }: Scene,
  { width, height }: { readonly width: number; readonly height: number },
): ReadonlyMap<string, Uint8Array> {
  const words = new Float32Array(triangles.length * TRIANGLE_WORDS)
  for (const [i, { corners }] of triangles.entries()) {
    const [first, second, third] = corners
    const [one, two] = [minus(second, first), minus(third, first)]
    words.set([...first, ...one, ...two, ...unit(cross(one, two))], i * TRIANGLE_WORDS)
  }
  const looks = new Float32Array(materials.length * MATERIAL_WORDS)
  for (const [i, { colour, emission, roughness, sort }] of materials.entries())
    looks.set([...colour, ...emission, roughness, SORTS[sort]], i * MATERIAL_WORDS)
  return new Map([
    ['triangles', bytesOf(words)],
    ['kinds', bytesOf(Uint32Array.from(triangles, ({ material }) => material))],
    ['materials', bytesOf(looks)],
    ['nodes', bytesOf(buildTree(words))],
    ['camera', bytesOf(Float32Array.from(cameraWords(camera, width, height)))],
  ])
}
