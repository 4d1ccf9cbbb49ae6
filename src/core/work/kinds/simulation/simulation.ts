import * as z from 'zod'
import { words32 } from '../../../bytes/bytes.ts'
import type { Kind, Turn } from '../../kind.ts'
import { BLOCK_CELLS, BLOCK_SIDE, DIRECTIONS } from '../../ops/flow.ts'
import { bitsOf, floatOf } from '../../ops/shapes.ts'
import { type Program, type Step, TOLD } from '../../program.ts'
import { requireThat } from '../../refusals.ts'
import type { TensorShape } from '../../tensor.ts'

const MAX_SIDE = 1024
const MAX_CELLS = 256 ** 3
/** Faster than this the lattice is no fluid any more. As a float it is a little more than 0.3. */
const MAX_VELOCITY = Math.fround(0.3)

const side = z.int().min(BLOCK_SIDE).max(MAX_SIDE).multipleOf(BLOCK_SIDE)
const bits = z.int().min(0).max(0xffffffff)
const small = bits.refine((value) => Math.abs(floatOf(value)) <= MAX_VELOCITY)
const vector = z.tuple([small, small, small])

const parameters = z
  .strictObject({
    /** Cells along x, y and z. */
    cells: z.tuple([side, side, side]),
    /** What is relaxed in a transition; the viscosity is (1 / omega - 1/2) / 3. Floats are given by their bits. */
    omega: bits.refine((value) => floatOf(value) > 0 && floatOf(value) < 2),
    /** Of driven cells, and of all cells at the beginning. */
    velocity: vector,
    /** Added to the velocity before it relaxes: acceleration times 1 / omega. */
    push: vector,
    /** How far velocities differ at the beginning, drawn from the seed. */
    noise: small,
    /** `given`: the first field, density and velocity of every cell, is handed in. */
    start: z.enum(['uniform', 'given']),
  })
  .refine(({ cells: [x, y, z] }) => x * y * z <= MAX_CELLS)

export type FlowParameters = z.infer<typeof parameters>

const blocksAlong = ({ cells }: Pick<FlowParameters, 'cells'>) =>
  cells.map((count) => count / BLOCK_SIDE) as [number, number, number]

export const blocksIn = (said: Pick<FlowParameters, 'cells'>): number =>
  blocksAlong(said).reduce((product, count) => product * count, 1)

const givenOf = (said: FlowParameters): ReadonlyMap<string, TensorShape> => {
  const [rows, width] = [blocksIn(said), BLOCK_CELLS]
  const given = new Map<string, TensorShape>([['cells', { type: 'u32', rows, width }]])
  if (said.start === 'given') given.set('start', { type: 'f32', rows: 4 * rows, width })
  return given
}

const stateOf = (said: FlowParameters): ReadonlyMap<string, TensorShape> =>
  new Map([['populations', { type: 'f32', rows: DIRECTIONS.length * blocksIn(said), width: BLOCK_CELLS }]])

const velocityOf = ({ velocity: [velocityX, velocityY, velocityZ] }: FlowParameters) => ({
  velocityX,
  velocityY,
  velocityZ,
})

function begin(said: FlowParameters, seed: Uint8Array): Program {
  const [key0, key1] = words32(seed)
  const given = givenOf(said)
  const numbers = { ...velocityOf(said), noise: said.noise, key0: key0!, key1: key1! }
  const steps: Step[] = [{ op: 'flowBegin', inputs: [...given.keys()], outputs: ['begun'], numbers }]
  return { there: given, steps, after: ['begun'], statistics: [] }
}

/** W6.2.6. The sum of one number for each block: lines along x, then along y, then along z. */
function sumOf(name: string, [, blocksY, blocksZ]: readonly number[]): readonly Step[] {
  const sum = (from: string, to: string): Step => ({ op: 'rowSum', inputs: [from], outputs: [to], numbers: {} })
  const lay = (from: string, to: string, width: number): Step => ({
    op: 'reshape',
    inputs: [from],
    outputs: [to],
    numbers: { width },
  })
  return [
    sum(name, `${name}/x`),
    lay(`${name}/x`, `${name}/xs`, blocksY!),
    sum(`${name}/xs`, `${name}/y`),
    lay(`${name}/y`, `${name}/ys`, blocksZ!),
    sum(`${name}/ys`, `${name}/z`),
  ]
}

function transition(said: FlowParameters, { isCommitted }: Turn): Program {
  const blocks = blocksAlong(said)
  const [blocksX, blocksY, blocksZ] = blocks
  const [pushX, pushY, pushZ] = said.push
  const numbers = { blocksX, blocksY, blocksZ, omega: said.omega, ...velocityOf(said), pushX, pushY, pushZ }
  const steps: Step[] = [{ op: 'flow', inputs: ['populations', 'cells'], outputs: ['made'], numbers }]
  if (isCommitted)
    steps.push(
      ...[
        { op: 'flowFigures', inputs: ['made'], outputs: ['mass', 'energy'], numbers: { blocksX } },
        ...sumOf('mass', blocks),
        ...sumOf('energy', blocks),
      ].map((step) => ({ ...step, needed: TOLD })),
    )
  const statistics = isCommitted ? ['mass/z', 'energy/z'] : []
  return { there: new Map([...givenOf(said), ...stateOf(said)]), steps, after: ['made'], statistics }
}

/** A fluid around obstacles: D3Q19 lattice-Boltzmann in binary32, the same bits on every device. Figures: mass, energy. */
export const simulation: Kind<FlowParameters> = {
  name: 'simulation',
  parameters,
  isIndependent: false,
  maxInterval: 256,
  requireTransitions(_, transitions) {
    requireThat(transitions <= 10_000_000, 'TOO_BIG', `${transitions} transitions`)
  },
  given: givenOf,
  state: stateOf,
  begin,
  transition,
  unit: 'fp32',
  figures: ['mass', 'energy'],
  guarantees: [
    'Replay: every drawn segment is exactly right; a share e of wrong segments passes 8 draws with (1 - e)^8.',
    'Openings: a share e of segments in which a share x of the blocks is wrong passes with (1 - e (1 - (1 - x)^16))^8; few wrong ones can lead to a flow that is cheap.',
    'A single wrong cell that spreads, and a flow that was left for another, are found by replay, replicas or a dispute, hardly ever by openings.',
    'Neither shows a segment that was not drawn. The pictures are made from the state, and shown, not proven.',
  ],
}

/** The parameters of a flow in numbers that people write: viscosity in lattice units, acceleration per transition. */
export function flowParameters(wanted: {
  readonly cells: readonly [number, number, number]
  readonly viscosity: number
  readonly velocity?: readonly [number, number, number]
  readonly acceleration?: readonly [number, number, number]
  readonly noise?: number
  readonly start?: FlowParameters['start']
}): FlowParameters {
  const { cells, viscosity, velocity = [0, 0, 0], acceleration = [0, 0, 0], noise = 0, start = 'uniform' } = wanted
  const tau = 3 * viscosity + 0.5
  const bitsOfAll = (values: readonly number[], factor = 1) =>
    values.map((value) => bitsOf(value * factor)) as [number, number, number]
  const said = { cells, omega: bitsOf(1 / tau), noise: bitsOf(noise), start }
  return parameters.parse({ ...said, velocity: bitsOfAll(velocity), push: bitsOfAll(acceleration, tau) })
}
