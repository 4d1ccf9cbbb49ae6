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

/** Every cell once, with its index in a tensor of one row for each block, and with x fastest: there may be 256^3. */
function everyCell(said: Cells, visit: (x: number, y: number, z: number, index: number, flat: number) => void): void {
  const [nx, ny, nz] = said.cells
  let flat = 0
  for (let z = 0; z < nz; z++)
    for (let y = 0; y < ny; y++) {
      // Along x a block is left every four cells.
      const { block, at } = cellAt(said, [0, y, z])
      const row = block * BLOCK_CELLS + at
      for (let x = 0; x < nx; x++) visit(x, y, z, row + (x >> 2) * BLOCK_CELLS + (x & 3), flat++)
    }
}

/** As they lie, where they lie well; a copy else. */
const floatsIn = (bytes: Uint8Array): Float32Array =>
  bytes.byteOffset % 4 === 0
    ? new Float32Array(bytes.buffer, bytes.byteOffset, bytes.length / 4)
    : new Float32Array(new Uint8Array(bytes).buffer)

const asBytes = (values: Uint32Array | Float32Array) => new Uint8Array(values.buffer)

/** W6.1.4. The tensor `cells`: what each holds, and from which directions a wall throws back. */
export function cellFlags(said: Cells, contentAt: (x: number, y: number, z: number) => CellContent): Uint8Array {
  const [nx, ny, nz] = said.cells
  const count = blocksIn(said) * BLOCK_CELLS
  const [flags, isSolid] = [new Uint32Array(count), new Uint8Array(count)]
  everyCell(said, (x, y, z, index, flat) => {
    const content = contentAt(x, y, z)
    if (content === 'driven') flags[index] = DRIVEN
    if (content !== 'solid') return
    flags[index] = SOLID
    isSolid[flat] = 1
  })
  everyCell(said, (x, y, z, index) => {
    if (flags[index] === SOLID) return
    let walls = flags[index]!
    for (let d = 1; d < DIRECTIONS.length; d++) {
      const [cx, cy, cz] = DIRECTIONS[d]!
      const from = (wrap(z - cz, nz) * ny + wrap(y - cy, ny)) * nx + wrap(x - cx, nx)
      if (isSolid[from] === 1) walls |= 1 << d
    }
    flags[index] = walls
  })
  return asBytes(flags)
}

/** Density and velocity of a cell. */
export type CellState = readonly [density: number, x: number, y: number, z: number]

/** W6.3.3. The tensor `start`: the first field. */
export function startField(said: Cells, stateAt: (x: number, y: number, z: number) => CellState): Uint8Array {
  const field = new Float32Array(4 * blocksIn(said) * BLOCK_CELLS)
  everyCell(said, (x, y, z, index) => {
    const row = 4 * Math.floor(index / BLOCK_CELLS)
    for (const [i, value] of stateAt(x, y, z).entries()) field[(row + i) * BLOCK_CELLS + (index % BLOCK_CELLS)] = value
  })
  return asBytes(field)
}

/** What a state shows: density and velocity of every cell, x fastest, each an array of its own. */
export interface FlowField {
  readonly density: Float32Array
  readonly velocity: readonly [Float32Array, Float32Array, Float32Array]
}

/** The field of a state, as people read it. It is shown: what is proven are the populations. */
export function fieldOf(said: Cells, populations: Uint8Array): FlowField {
  const f = floatsIn(populations)
  const count = blocksIn(said) * BLOCK_CELLS
  const density = new Float32Array(count)
  const velocity = [new Float32Array(count), new Float32Array(count), new Float32Array(count)] as const
  everyCell(said, (_x, _y, _z, index, flat) => {
    const first = Math.floor(index / BLOCK_CELLS) * DIRECTIONS.length * BLOCK_CELLS + (index % BLOCK_CELLS)
    let [mass, x, y, z] = [0, 0, 0, 0]
    for (let d = 0; d < DIRECTIONS.length; d++) {
      const [value, along] = [f[first + d * BLOCK_CELLS]!, DIRECTIONS[d]!]
      mass += value
      x += along[0] * value
      y += along[1] * value
      z += along[2] * value
    }
    density[flat] = mass
    const share = mass > 0 ? 1 / mass : 0
    velocity[0][flat] = x * share
    velocity[1][flat] = y * share
    velocity[2][flat] = z * share
  })
  return { density, velocity }
}
