import { rmSync } from 'node:fs'
import { join } from 'node:path'
import type { TensorHasher } from '../../core/work/engineRun.ts'
import { type CellContent, cellFlags } from '../../core/work/kinds/simulation/lattice.ts'
import { type FlowParameters, flowParameters } from '../../core/work/kinds/simulation/simulation.ts'
import { hasherOn } from '../../core/work/workEngine.ts'
import { openExactEngine } from '../../drivers/gpu/cpu/work/openCpuWork.ts'
import { encodePng } from '../../drivers/picture/png.ts'
import { makeFolder, writeAside } from '../../drivers/system/writeAside.ts'
import { fault } from '../faults.ts'
import { reader, repeated } from '../parseOptions.ts'
import type { CommandContext } from '../run.ts'
import { inputNames } from './inputFiles.ts'
import { encodeField, pictureName, pictureOf } from './results/flowFiles.ts'
import { type RunFlags, runWork } from './runWork.ts'
import { type PreparedWork, prepareWork } from './workOrder.ts'

type Cells = readonly [x: number, y: number, z: number]
/** Whether a cell belongs to an obstacle. */
type Obstacle = (x: number, y: number, z: number) => boolean

export interface SimulateFlags {
  readonly size: Cells
  readonly steps: number
  readonly interval?: number
  readonly viscosity: number
  readonly speed: number
  readonly noise: number
  readonly obstacle?: readonly Obstacle[]
  readonly walls?: boolean
  /** A folder for pictures of the flow, and how many of them. */
  readonly pictures?: string
  readonly frames: number
}

/** Segments that there are at least, so that draws have something to choose from. */
const LEAST_SEGMENTS = 16
const LARGEST_INTERVAL = 256

/** 128x64x64, or one number for a cube. */
export const readSize = reader('Use cells as 128x64x64, each a multiple of 4 from 4 to 1024.', (text): Cells | null => {
  const sides = /^\d{1,4}(x\d{1,4}x\d{1,4})?$/.test(text) ? text.split('x').map(Number) : []
  if (sides.length === 0 || sides.some((side) => side < 4 || side > 1024 || side % 4 !== 0)) return null
  const [x, y = x, z = x] = sides as [number, number?, number?]
  return [x, y, z]
})

const SHAPES: Readonly<Record<string, { readonly numbers: number; of(at: readonly number[]): Obstacle }>> = {
  sphere: {
    numbers: 4,
    of:
      ([cx, cy, cz, r]) =>
      (x, y, z) =>
        (x - cx!) ** 2 + (y - cy!) ** 2 + (z - cz!) ** 2 <= r! ** 2,
  },
  cylinder: {
    numbers: 3,
    of:
      ([cx, cy, r]) =>
      (x, y) =>
        (x - cx!) ** 2 + (y - cy!) ** 2 <= r! ** 2,
  },
  box: {
    numbers: 6,
    of:
      ([x0, y0, z0, x1, y1, z1]) =>
      (x, y, z) =>
        x >= x0! && y >= y0! && z >= z0! && x <= x1! && y <= y1! && z <= z1!,
  },
}

const readObstacle = reader('Use sphere:X,Y,Z,R, cylinder:X,Y,R or box:X,Y,Z,X,Y,Z, in cells.', (text) => {
  const [name = '', numbers = ''] = text.split(':')
  const shape = Object.hasOwn(SHAPES, name) ? SHAPES[name]! : null
  const at = /^-?\d{1,4}(\.\d+)?(,-?\d{1,4}(\.\d+)?)*$/.test(numbers) ? numbers.split(',').map(Number) : []
  return shape?.numbers === at.length ? shape.of(at) : null
})

export const addObstacle = repeated(readObstacle)

/** A stream along x, held at its speed where x is 0, around obstacles; periodic everywhere else. */
function simulateWork(flags: SimulateFlags, hasher: TensorHasher): PreparedWork & { readonly said: FlowParameters } {
  const { size, steps, viscosity, speed, noise, walls = false } = flags
  const [nx, ny] = size
  const obstacles = flags.obstacle ?? [SHAPES.cylinder!.of([nx / 4, ny / 2, ny / 8])]
  if (size[0] * size[1] * size[2] > 256 ** 3) throw fault('BAD_WORK_INPUT', { why: 'there are more than 256^3 cells' })
  const said = flowParameters({ cells: size, viscosity, velocity: [speed, 0, 0], noise })
  const contentAt = (x: number, y: number, z: number): CellContent => {
    const isWall = walls && (y === 0 || y === ny - 1)
    if (isWall || obstacles.some((isInside) => isInside(x, y, z))) return 'solid'
    return x === 0 ? 'driven' : 'fluid'
  }
  const given = new Map([['cells', cellFlags(said, contentAt)]])
  const interval = Math.min(flags.interval ?? Math.ceil(steps / LEAST_SEGMENTS), LARGEST_INTERVAL, steps)
  const prepared = prepareWork({ kind: 'simulation', parameters: said, transitions: steps, interval }, given, hasher)
  return { ...prepared, said }
}

/** A fluid around obstacles: its field at the end, and pictures of it on the way. */
export async function runSimulation(
  flags: RunFlags & SimulateFlags,
  context: CommandContext,
  signal: AbortSignal,
): Promise<number> {
  const { said, ...prepared } = simulateWork(flags, hasherOn(await openExactEngine()))
  const segments = Math.ceil(flags.steps / prepared.interval)
  const { pictures } = flags
  const written: string[] = []
  if (pictures !== undefined) makeFolder(pictures)
  return await runWork(prepared, flags, context, signal, {
    every: pictures === undefined ? 0 : Math.ceil(segments / flags.frames),
    onState(segment, state) {
      if (pictures === undefined) return
      const file = join(pictures, pictureName(segment))
      writeAside(file, encodePng(pictureOf(said, state)))
      written.push(file)
    },
    result: (_, { tensors }) => encodeField(said, tensors),
    states: ({ tensors }) => tensors,
    given: flags.inputs === undefined ? [] : inputNames(flags.inputs, prepared.given),
    tied: flags.inputs === undefined ? [] : ['--result', flags.out],
    end(isShown) {
      if (!isShown) for (const file of written) rmSync(file, { force: true })
    },
  })
}
