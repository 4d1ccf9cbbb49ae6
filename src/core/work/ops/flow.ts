import { words32 } from '../../bytes/bytes.ts'
import type { Numbers } from '../op.ts'
import { requireThat } from '../refusals.ts'
import type { Region, TensorShape } from '../tensor.ts'
import { NONE } from '../workKernels.ts'
import { elementAt, floatOf, requireSize, requireTypes, requireWhole, rowAt, type WorkOp } from './shapes.ts'

/** W6.1.2. Where populations go, in the order of their rows; each odd one is followed by its opposite. */
export const DIRECTIONS: readonly (readonly [x: number, y: number, z: number])[] = [
  ...([[0, 0, 0]] as const),
  ...([
    [1, 0, 0],
    [-1, 0, 0],
    [0, 1, 0],
    [0, -1, 0],
    [0, 0, 1],
    [0, 0, -1],
  ] as const),
  ...([
    [1, 1, 0],
    [-1, -1, 0],
    [1, -1, 0],
    [-1, 1, 0],
  ] as const),
  ...([
    [1, 0, 1],
    [-1, 0, -1],
    [1, 0, -1],
    [-1, 0, 1],
  ] as const),
  ...([
    [0, 1, 1],
    [0, -1, -1],
    [0, 1, -1],
    [0, -1, 1],
  ] as const),
]

/** Cells along the side of a block, and in it. */
export const BLOCK_SIDE = 4
export const BLOCK_CELLS = 64
/** W6.2.7. Operations of one cell, by the definition. */
const CELL_OPERATIONS = 192

const rowsOf = ({ rows }: TensorShape): number => rows / DIRECTIONS.length

const blocksOf = ({ blocksX, blocksY, blocksZ }: Numbers): readonly [number, number, number] => [
  blocksX!,
  blocksY!,
  blocksZ!,
]

/** W6.1.5. Rows that a block reads, direction by direction, x fastest: its own, and the next block's against the direction. */
function rowsRead(numbers: Numbers, block: number): readonly Region[] {
  const [nx, ny, nz] = blocksOf(numbers)
  const at = [block % nx, Math.floor(block / nx) % ny, Math.floor(block / nx / ny)]
  const along = (axis: number, by: number, count: number) =>
    by === 0 ? [at[axis]!] : [at[axis]!, (at[axis]! - by + count) % count]
  return DIRECTIONS.flatMap(([cx, cy, cz], direction) =>
    along(2, cz, nz).flatMap((z) =>
      along(1, cy, ny).flatMap((y) =>
        along(0, cx, nx).map((x) =>
          rowAt({ type: 'f32', rows: 1, width: BLOCK_CELLS }, ((z * ny + y) * nx + x) * DIRECTIONS.length + direction),
        ),
      ),
    ),
  )
}

/** All rows of one block. */
const blockRows = (block: number, perBlock: number): Region => ({
  row: block * perBlock,
  rows: perBlock,
  column: 0,
  columns: BLOCK_CELLS,
})

const byBlock = {
  patches: ({ outputs }: { readonly outputs: readonly TensorShape[] }) => rowsOf(outputs[0]!),
  patchAt: (_: unknown, __: number, row: number) => Math.floor(row / DIRECTIONS.length),
}

const isSame = (one: Uint8Array, other: Uint8Array) => one.every((byte, i) => byte === other[i])

/** Whether every cell of a block holds what its first cell holds: anyone could write such a block down. */
function isUniform(block: Uint8Array): boolean {
  const words = new Uint32Array(new Uint8Array(block).buffer)
  return words.every((word, i) => word === words[i - (i % BLOCK_CELLS)])
}

/** Where in the 61 rows a block's own are: the first of each direction. */
const OWN_ROWS = DIRECTIONS.map((_, direction) =>
  DIRECTIONS.slice(0, direction).reduce((sum, along) => sum + 2 ** along.filter((by) => by !== 0).length, 0),
)

/** Bit 0 of a cell: solid; bit 19: driven. Either is written without a thought for what was there before. */
const FIXED = 1 | (1 << 19)

/** W6.4.4. All of it where all cells are equal, or nothing changed; else its cells that no flow reaches (attack 451). */
function deadShareOf([rows, cells]: readonly Uint8Array[], [made]: readonly Uint8Array[]): number {
  const bytes = 4 * BLOCK_CELLS
  const isUnchanged = OWN_ROWS.every((row, direction) =>
    isSame(rows!.subarray(row * bytes, (row + 1) * bytes), made!.subarray(direction * bytes, (direction + 1) * bytes)),
  )
  if (isUnchanged || isUniform(made!)) return 1
  return words32(cells!).filter((cell) => (cell & FIXED) !== 0).length / BLOCK_CELLS
}

/** W6.2. Populations and cells, one transition on. */
const flow: WorkOp = {
  outputs(inputs, numbers) {
    requireTypes('flow', inputs, ['f32', 'u32'])
    const { omega, velocityX, velocityY, velocityZ, pushX, pushY, pushZ } = numbers
    requireWhole('flow', ...blocksOf(numbers), omega, velocityX, velocityY, velocityZ, pushX, pushY, pushZ)
    const blocks = blocksOf(numbers).reduce((product, count) => product * count, 1)
    requireThat(blocks > 0, 'BAD_SHAPE', 'flow in no blocks')
    requireSize('flow', inputs[0]!, { rows: DIRECTIONS.length * blocks, width: BLOCK_CELLS })
    requireSize('flow', inputs[1]!, { rows: blocks, width: BLOCK_CELLS })
    return [inputs[0]!]
  },
  operations: ({ outputs }) => CELL_OPERATIONS * BLOCK_CELLS * rowsOf(outputs[0]!),
  ...byBlock,
  patch({ inputs, numbers }, block) {
    return {
      outputs: [blockRows(block, DIRECTIONS.length)],
      inputs: [rowsRead(numbers, block), rowAt(inputs[1]!, block)],
      numbers: { ...numbers, blocksX: 0 },
    }
  },
  run(kernels, { inputs, outputs, numbers }) {
    const { omega, velocityX, velocityY, velocityZ, pushX, pushY, pushZ } = numbers
    const places = [inputs[0]!.at, inputs[1]!.at, outputs[0]!.at] as const
    const floats = [omega!, velocityX!, velocityY!, velocityZ!, pushX!, pushY!, pushZ!].map(floatOf)
    const count = rowsOf(outputs[0]!.shape)
    return kernels.flow(...places, ...blocksOf(numbers), 0, count, ...(floats as Seven))
  },
  deadShare: deadShareOf,
}

type Seven = [number, number, number, number, number, number, number]

/** W6.3. Cells, and a field of density and velocity where one is given. */
const flowBegin: WorkOp = {
  outputs(inputs, { velocityX, velocityY, velocityZ, noise, key0, key1 }) {
    requireTypes('flowBegin', inputs, inputs.length === 2 ? ['u32', 'f32'] : ['u32'])
    requireWhole('flowBegin', velocityX, velocityY, velocityZ, noise, key0, key1)
    const { rows } = inputs[0]!
    requireSize('flowBegin', inputs[0]!, { rows, width: BLOCK_CELLS })
    if (inputs[1]) requireSize('flowBegin', inputs[1], { rows: 4 * rows, width: BLOCK_CELLS })
    return [{ type: 'f32', rows: DIRECTIONS.length * rows, width: BLOCK_CELLS }]
  },
  operations: ({ outputs }) => 2 * outputs[0]!.rows * BLOCK_CELLS,
  ...byBlock,
  patch: ({ inputs, numbers }, block) => ({
    outputs: [blockRows(block, DIRECTIONS.length)],
    inputs: [rowAt(inputs[0]!, block), ...(inputs[1] ? [blockRows(block, 4)] : [])],
    numbers: { ...numbers, first: block },
  }),
  run(kernels, { inputs, outputs, numbers }) {
    const { velocityX, velocityY, velocityZ, noise, key0, key1, first = 0 } = numbers
    const [x, y, z, chance] = [velocityX!, velocityY!, velocityZ!, noise!].map(floatOf) as [
      number,
      number,
      number,
      number,
    ]
    const places = [inputs[0]!.at, inputs[1]?.at ?? NONE, outputs[0]!.at] as const
    return kernels.flowBegin(...places, first, inputs[0]!.shape.rows, x, y, z, chance, key0!, key1!)
  },
}

/** W6.2.6. Mass and kinetic energy of each block, in lines along x. */
const flowFigures: WorkOp = {
  outputs(inputs, { blocksX }) {
    requireTypes('flowFigures', inputs, ['f32'])
    requireWhole('flowFigures', blocksX)
    const { rows } = inputs[0]!
    requireSize('flowFigures', inputs[0]!, { rows, width: BLOCK_CELLS })
    const isFull = blocksX! > 0 && rows % (DIRECTIONS.length * blocksX!) === 0
    requireThat(isFull, 'BAD_SHAPE', 'flowFigures in lines of blocks')
    const lines = { type: 'f32', rows: rowsOf(inputs[0]!) / blocksX!, width: blocksX! } as const
    return [lines, lines]
  },
  operations: ({ inputs }) => 2 * inputs[0]!.rows * BLOCK_CELLS,
  patches: ({ inputs }) => rowsOf(inputs[0]!),
  patchAt: ({ outputs }, _, row, column) => row * outputs[0]!.width + column,
  patch({ outputs, numbers }, block) {
    const { width } = outputs[0]!
    const one = elementAt(Math.floor(block / width), block % width)
    return { outputs: [one, one], inputs: [blockRows(block, DIRECTIONS.length)], numbers }
  },
  run: (kernels, { inputs, outputs }) =>
    kernels.flowFigures(inputs[0]!.at, outputs[0]!.at, outputs[1]!.at, rowsOf(inputs[0]!.shape)),
}

/** Ops of flow (W6). */
export const flowOps = { flow, flowBegin, flowFigures } as const satisfies Record<string, WorkOp>
