import { toHex } from '../../src/core/bytes/hex.ts'
import { sha256 } from '../../src/core/bytes/sha256.ts'
import type { TensorHasher } from '../../src/core/work/engineRun.ts'
import { type CellContent, cellFlags } from '../../src/core/work/kinds/simulation/lattice.ts'
import { flowParameters } from '../../src/core/work/kinds/simulation/simulation.ts'
import { bitsOf } from '../../src/core/work/ops/shapes.ts'
import { openWork, type Work } from '../../src/core/work/work.ts'
import type { WorkKernels } from '../../src/core/work/workKernels.ts'
import { WORK_KINDS } from '../../src/core/work/workKinds.ts'
import { EXACT_OPS } from '../../src/core/work/workOps.ts'
import { encodeSpec, type WorkSpec } from '../../src/core/work/workSpec.ts'
import { type Chance, sceneOf } from './workTrials.ts'

type Tensors = ReadonlyMap<string, Uint8Array>

export interface ReadyWork {
  readonly work: Work<WorkKernels>
  readonly given: Tensors
}

/** A work that is ready to be run, with inputs by their roots. */
export function readyWork(
  asked: Pick<WorkSpec, 'kind' | 'parameters' | 'transitions' | 'interval'>,
  given: Tensors,
  hasher: TensorHasher,
): ReadyWork {
  const kind = WORK_KINDS[asked.kind]!
  const inputs = [...kind.given(kind.parameters.parse(asked.parameters))].map(([name, shape]) => ({
    name,
    uri: '',
    root: toHex(hasher.root(shape, given.get(name)!)),
  }))
  const text = encodeSpec({ ...asked, version: 1, inputs })
  const order = { text, orderId: sha256(Uint8Array.of(1)), seed: sha256(Uint8Array.of(2)) }
  return { work: openWork(WORK_KINDS, EXACT_OPS, order), given }
}

/** A small product: rows past one stretch of a card's sums, widths that fill no word. */
export function chanceProduct(chance: Chance, hasher: TensorHasher): ReadyWork {
  const [rows, columns, k] = [chance.whole(1, 1100), chance.whole(1, 40), chance.whole(1, 70)]
  const block = chance.whole(Math.ceil(rows / 4), rows)
  const given = new Map([
    ['a', new Uint8Array(chance.bytes(rows * k).buffer)],
    ['b', new Uint8Array(chance.bytes(columns * k).buffer)],
  ])
  const parameters = { rows, columns, k, block }
  return readyWork({ kind: 'matmul', parameters, transitions: Math.ceil(rows / block), interval: 1 }, given, hasher)
}

/** A small flow: sizes, obstacles, driven cells, viscosity and push as chance has it. */
export function chanceFlow(chance: Chance, hasher: TensorHasher): ReadyWork {
  const cells = [chance.whole(1, 4), chance.whole(1, 3), chance.whole(1, 3)].map((side) => 4 * side)
  const small = () => chance.one([0, 0.01, -0.02, 0.05])
  const parameters = flowParameters({
    cells: cells as [number, number, number],
    viscosity: chance.one([0.005, 0.02, 0.3]),
    velocity: [small(), small(), small()],
    acceleration: [small() / 100, 0, small() / 100],
    noise: chance.one([0, 0.01, 0.1]),
  })
  const contents: readonly CellContent[] = ['fluid', 'fluid', 'fluid', 'fluid', 'fluid', 'driven', 'solid']
  const given = new Map([['cells', cellFlags(parameters, () => chance.one(contents))]])
  const transitions = chance.whole(1, 9)
  const asked = { kind: 'simulation', parameters, transitions, interval: chance.whole(1, transitions) }
  return readyWork(asked, given, hasher)
}

/** A small picture of triangles anywhere. */
export function chancePicture(chance: Chance, hasher: TensorHasher): ReadyWork {
  const triangles = chance.whole(1, 60)
  const given = sceneOf(chance, triangles)
  const height = 8 * chance.whole(1, 3)
  const light = () => [...chance.words(3, 3)].map((part) => bitsOf(part / 2))
  const parameters = {
    ...{
      width: 8 * chance.whole(1, 4),
      height,
      samples: chance.one([1, 2, 3, 31, 32, 33]),
      bounces: chance.whole(1, 6),
    },
    ...{ triangles, materials: 5, epsilon: bitsOf(1e-3), zenith: light(), horizon: light() },
  }
  return readyWork({ kind: 'rendering', parameters, transitions: height / 8, interval: 1 }, given, hasher)
}
