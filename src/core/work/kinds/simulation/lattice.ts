import { BLOCK_CELLS, BLOCK_SIDE, DIRECTIONS } from '../../ops/flow.ts'
import { blocksIn, type FlowParameters } from './simulation.ts'

/** What is in a cell: fluid, an obstacle, or fluid that is held at the given velocity. */
export type CellContent = 'fluid' | 'solid' | 'driven'

type Cells = Pick<FlowParameters, 'cells'>
type Place = readonly [x: number, y: number, z: number]

const SOLID = 1
const DRIVEN = 1 << DIRECTIONS.length

const wrap = (at: number, size: number): number => (at + size) % size

/** W6.1.3. Where a cell lies: its block, and its place in it. */
export function cellAt({ cells: [nx, ny] }: Cells, [x, y, z]: Place): { readonly block: number; readonly at: number } {
  const of = (place: number) => Math.floor(place / BLOCK_SIDE)
  const block = (of(z) * (ny / BLOCK_SIDE) + of(y)) * (nx / BLOCK_SIDE) + of(x)
  return { block, at: (z % BLOCK_SIDE) * 16 + (y % BLOCK_SIDE) * BLOCK_SIDE + (x % BLOCK_SIDE) }
}

/** Every cell once, with its index in a tensor of one row for each block. */
function* everyCell(said: Cells): Generator<{ readonly place: Place; readonly index: number }> {
  const [nx, ny, nz] = said.cells
  for (let z = 0; z < nz; z++)
    for (let y = 0; y < ny; y++)
      for (let x = 0; x < nx; x++) {
        const place = [x, y, z] as const
        const { block, at } = cellAt(said, place)
        yield { place, index: block * BLOCK_CELLS + at }
      }
}

const asBytes = (values: Uint32Array | Float32Array) => new Uint8Array(values.buffer)

/** W6.1.4. The tensor `cells`: what each holds, and from which directions a wall throws back. */
export function cellFlags(said: Cells, contentAt: (x: number, y: number, z: number) => CellContent): Uint8Array {
  const [nx, ny, nz] = said.cells
  const flags = new Uint32Array(blocksIn(said) * BLOCK_CELLS)
  for (const { place, index } of everyCell(said)) {
    const content = contentAt(...place)
    if (content === 'solid') flags[index] = SOLID
  }
  const isSolid = (place: Place) => {
    const { block, at } = cellAt(said, place)
    return flags[block * BLOCK_CELLS + at] === SOLID
  }
  for (const { place, index } of everyCell(said)) {
    if (flags[index] === SOLID) continue
    const [x, y, z] = place
    const walls = DIRECTIONS.reduce((sum, [cx, cy, cz], d) => {
      const from = [wrap(x - cx, nx), wrap(y - cy, ny), wrap(z - cz, nz)] as const
      return d > 0 && isSolid(from) ? sum | (1 << d) : sum
    }, 0)
    flags[index] = contentAt(...place) === 'driven' ? walls | DRIVEN : walls
  }
  return asBytes(flags)
}

/** Density and velocity of a cell. */
export type CellState = readonly [density: number, x: number, y: number, z: number]

/** W6.3.3. The tensor `start`: the first field. */
export function startField(said: Cells, stateAt: (x: number, y: number, z: number) => CellState): Uint8Array {
  const field = new Float32Array(4 * blocksIn(said) * BLOCK_CELLS)
  for (const { place, index } of everyCell(said)) {
    const row = 4 * Math.floor(index / BLOCK_CELLS)
    for (const [i, value] of stateAt(...place).entries()) field[(row + i) * BLOCK_CELLS + (index % BLOCK_CELLS)] = value
  }
  return asBytes(field)
}

/** What a state shows: density and velocity of every cell, x fastest, each an array of its own. */
export interface FlowField {
  readonly density: Float32Array
  readonly velocity: readonly [Float32Array, Float32Array, Float32Array]
}

/** The field of a state, as people read it. It is shown: what is proven are the populations. */
export function fieldOf(said: Cells, populations: Uint8Array): FlowField {
  const f = new Float32Array(populations.slice().buffer)
  const count = blocksIn(said) * BLOCK_CELLS
  const density = new Float32Array(count)
  const velocity = [new Float32Array(count), new Float32Array(count), new Float32Array(count)] as const
  const [nx, ny] = said.cells
  for (const { place, index } of everyCell(said)) {
    const first = Math.floor(index / BLOCK_CELLS) * DIRECTIONS.length * BLOCK_CELLS + (index % BLOCK_CELLS)
    const sums = [0, 0, 0, 0]
    for (const [d, along] of DIRECTIONS.entries()) {
      const value = f[first + d * BLOCK_CELLS]!
      sums[0]! += value
      for (let axis = 0; axis < 3; axis++) sums[axis + 1]! += along[axis]! * value
    }
    const to = (place[2] * ny + place[1]) * nx + place[0]
    density[to] = sums[0]!
    for (let axis = 0; axis < 3; axis++) velocity[axis]![to] = sums[0]! > 0 ? sums[axis + 1]! / sums[0]! : 0
  }
  return { density, velocity }
}
