import { NODE_WORDS, TRIANGLE_WORDS } from '../../ops/picture.ts'

type Box = readonly [readonly number[], readonly number[]]

const join = ([a, b]: Box, [c, d]: Box): Box => [
  a.map((value, i) => Math.min(value, c[i]!)),
  b.map((value, i) => Math.max(value, d[i]!)),
]

/** Of a triangle: its corner, and that corner plus each edge, rounded as f32. */
function boxOf(triangles: Float32Array, index: number): Box {
  const at = index * TRIANGLE_WORDS
  const corner = [0, 1, 2].map((axis) => triangles[at + axis]!)
  const far = (edge: number) => corner.map((value, axis) => Math.fround(value + triangles[at + edge + axis]!))
  const point = (values: readonly number[]): Box => [values, values]
  return join(join(point(corner), point(far(3))), point(far(6)))
}

/**
 * W7.2.2. The tree by the text: triangles sorted by the middle of their boxes along the widest axis, of equals the first
 * first, and halved until one is left. Nodes lie depth first; each says where to go on if it is missed, and its triangle.
 */
export function buildTree(triangles: Float32Array): Float32Array {
  const count = triangles.length / TRIANGLE_WORDS
  const boxes = Array.from({ length: count }, (_, i) => boxOf(triangles, i))
  const middle = (index: number, axis: number) => Math.fround(boxes[index]![0][axis]! + boxes[index]![1][axis]!)
  const nodes = new Float32Array(NODE_WORDS * (2 * count - 1))
  let next = 0
  const write = (members: readonly number[]): Box => {
    const at = next++
    const isLeaf = members.length === 1
    const box = isLeaf ? boxes[members[0]!]! : halves(members).map(write).reduce(join)
    nodes.set([...box[0], ...box[1], next, isLeaf ? members[0]! : -1], at * NODE_WORDS)
    return box
  }
  const halves = (members: readonly number[]): readonly (readonly number[])[] => {
    const spreadAlong = (axis: number) => {
      let [low, high] = [Infinity, -Infinity]
      for (const index of members) {
        low = Math.min(low, middle(index, axis))
        high = Math.max(high, middle(index, axis))
      }
      return Math.fround(high - low)
    }
    const spreads = [0, 1, 2].map(spreadAlong)
    const axis = spreads.indexOf(Math.max(...spreads))
    const sorted = [...members].sort((a, b) => middle(a, axis) - middle(b, axis) || a - b)
    const half = Math.ceil(sorted.length / 2)
    return [sorted.slice(0, half), sorted.slice(half)]
  }
  write(Array.from({ length: count }, (_, i) => i))
  return nodes
}
