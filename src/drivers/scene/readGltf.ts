import { type Material as GltfMaterial, type Node, type Primitive, type vec3, WebIO } from '@gltf-transform/core'
import type { Camera, Material, Scene, Vector } from '../../core/work/kinds/rendering/scene.ts'
import { WorkRefusal } from '../../core/work/refusals.ts'

/** Larger files are refused before they are read. */
const MAX_BYTES = 2 ** 28
const MAX_TRIANGLES = 2 ** 20
const TRIANGLES = 4
/** From half on a surface counts as metal. */
const METAL = 0.5

const PLAIN: Material = { colour: [0.8, 0.8, 0.8], emission: [0, 0, 0], roughness: 1, sort: 'diffuse' }

const vector = ([x, y, z]: vec3): Vector => [x, y, z]

/** Glass is what glTF blends; textures and extensions are left out. */
function materialOf(of: GltfMaterial): Material {
  const [r, g, b] = of.getBaseColorFactor()
  const solid = of.getMetallicFactor() >= METAL ? 'metal' : 'diffuse'
  const sort = of.getAlphaMode() === 'BLEND' ? 'glass' : solid
  return { colour: [r, g, b], emission: vector(of.getEmissiveFactor()), roughness: of.getRoughnessFactor(), sort }
}

/** A place under a node's matrix, which lies column by column. */
const placed = (m: readonly number[], [x, y, z]: Vector, w = 1): Vector =>
  [0, 1, 2].map((i) => m[i]! * x + m[4 + i]! * y + m[8 + i]! * z + m[12 + i]! * w) as unknown as Vector

function cornersOf(primitive: Primitive, matrix: readonly number[]): readonly Vector[] {
  const positions = primitive.getAttribute('POSITION')
  if (!positions || primitive.getMode() !== TRIANGLES) return []
  const indices = primitive.getIndices()
  const count = indices?.getCount() ?? positions.getCount()
  return Array.from({ length: count - (count % 3) }, (_, i) =>
    placed(matrix, positions.getElement(indices ? indices.getScalar(i) : i, []) as unknown as Vector),
  )
}

const FAR: Camera = { eye: [0, 1, 5], target: [0, 0, 0], fieldOfView: 45 }

function cameraOf(node: Node): Camera | null {
  const camera = node.getCamera()
  if (!camera) return null
  const matrix = node.getWorldMatrix()
  const fieldOfView = (camera.getYFov() * 180) / Math.PI
  return { eye: placed(matrix, [0, 0, 0]), target: placed(matrix, [0, 0, -1]), fieldOfView }
}

/** The scene of a glTF file in one piece (.glb): triangles, materials, the first camera. Throws a WorkRefusal. */
export async function readGltf(bytes: Uint8Array): Promise<Scene> {
  if (bytes.length > MAX_BYTES) throw new WorkRefusal('TOO_BIG', `the scene has ${bytes.length} bytes`)
  const root = await open(bytes)
  const known = root.listMaterials()
  const triangles: Scene['triangles'][number][] = []
  for (const node of root.listNodes())
    for (const primitive of node.getMesh()?.listPrimitives() ?? []) {
      const corners = cornersOf(primitive, node.getWorldMatrix())
      if (triangles.length + corners.length / 3 > MAX_TRIANGLES)
        throw new WorkRefusal('TOO_BIG', `the scene has more than ${MAX_TRIANGLES} triangles`)
      const material = known.indexOf(primitive.getMaterial()!) + 1
      for (let i = 0; i < corners.length; i += 3)
        triangles.push({ corners: [corners[i]!, corners[i + 1]!, corners[i + 2]!], material })
    }
  if (triangles.length === 0) throw new WorkRefusal('BAD_INPUT', 'the scene has no triangle')
  const camera =
    root
      .listNodes()
      .map(cameraOf)
      .find((found) => found !== null) ?? FAR
  return { triangles, materials: [PLAIN, ...known.map(materialOf)], camera }
}

async function open(bytes: Uint8Array) {
  try {
    return (await new WebIO().readBinary(bytes)).getRoot()
  } catch {
    throw new WorkRefusal('BAD_INPUT', 'the scene is no glTF file in one piece (.glb)')
  }
}
