import { expect, test } from 'vitest'
import { inferenceVectors, tinyInference } from '../../../../../test/support/tinyInference.ts'
import { PLAIN_HASHER } from '../../../../core/work/engineRun.ts'
import { bitsOf } from '../../../../core/work/ops/shapes.ts'
import type { Fused, FusedTools, Phased } from './fused.ts'
import type { Node } from './graph.ts'
import { joinPhases, type Phase, type Planned } from './phases.ts'
import { planProgram } from './plan.ts'

const node = (at: number): Node => ({ at, op: 'product', inputs: [], outputs: [], numbers: {}, shaped: {} as never })
const phaseOf = (kind: Phase['kind'], more: Partial<Phase> = {}): Phase => ({
  ...{ kind, rows: 1, heads: kind === 'attend' ? 8 : 0, places: [0x1_0000_0001n, 2n], words: [5, 6] },
  ...more,
})

interface Asked {
  readonly ahead?: readonly string[]
  readonly reuses?: Phased['reuses']
  readonly phase?: Phase
}

function phased(at: number, input: string, output: string, asked: Asked = {}): Planned<Phased> {
  const { ahead = [], reuses = [], phase = phaseOf('linear') } = asked
  const fused: Phased = { covers: [node(at)], ahead, reuses, phase: () => phase }
  return { nodes: fused.covers, fused, inputs: [input], outputs: [output] }
}

/** What is launched, and the table it reads. */
function launched(fused: Fused, sharedBytes = 232_448) {
  const launches: { name: string; blocks: number; sharedBytes: number; args: readonly (bigint | number)[] }[] = []
  let bytes = new Uint8Array()
  const tools: Partial<FusedTools> = {
    launcher: {
      launch: (name: string, [blocks]: [number, number], args: (bigint | number)[], options: { sharedBytes: number }) =>
        launches.push({ name, blocks, args, sharedBytes: options.sharedBytes }),
    } as never,
    products: { zeros: () => 4096n } as never,
    table: (_, of) => {
      bytes = of.slice()
      return 512n
    },
    faultOf: ({ at }) => BigInt(1000 + 4 * at),
    size: { multiprocessors: 132, sharedBytes },
  }
  fused.run(tools as FusedTools)
  const view = new DataView(bytes.buffer)
  const table = Array.from({ length: bytes.length / 128 }, (_, i) => ({
    ...{ fault: view.getBigUint64(128 * i, true), kind: view.getUint32(128 * i + 8, true) },
    linears: view.getUint32(128 * i + 12, true),
    rest: [...new Uint32Array(bytes.buffer, 128 * i + 16, 6)],
  }))
  return { launches, table }
}

test('phases in a row are one launch of all multiprocessors, each with its own fault and its weights numbered', () => {
  const attend = phaseOf('attend')
  const [one, ...more] = joinPhases([phased(3, 'x', 'a'), phased(7, 'a', 'b', { phase: attend }), phased(9, 'b', 'c')])
  expect(more).toEqual([])
  expect(one).toMatchObject({ inputs: ['x'], outputs: ['a', 'b', 'c'] })
  const { launches, table } = launched(one!.fused!)
  const rest = [1, 1, 2, 0, 5, 6]
  expect(table).toEqual([
    { fault: 1012n, kind: 0, linears: 0, rest },
    { fault: 1028n, kind: 1, linears: 1, rest },
    { fault: 1036n, kind: 0, linears: 1, rest },
  ])
  expect(launches).toEqual([
    { name: 'phases1', blocks: 132, sharedBytes: 59_392 + 5 * 32_768, args: [512n, 3, 2, 4096n, 4352n, 5] },
  ])
})

test.each([
  ['an H200', 232_448, 5],
  ['an A100', 166_912, 3],
  ['an RTX 4090', 101_376, 1],
])('%s has room for its slots of weights', (_, sharedBytes, slots) => {
  const { launches } = launched(joinPhases([phased(0, 'x', 'a')])[0]!.fused!, sharedBytes)
  expect(launches[0]!.args.at(-1)).toBe(slots)
  expect(launches[0]!.sharedBytes).toBeLessThanOrEqual(sharedBytes)
})

test('several rows have a kernel of their own', () => {
  const phase = phaseOf('linear', { rows: 3 })
  expect(launched(joinPhases([phased(0, 'x', 'a', { phase })])[0]!.fused!).launches[0]!.name).toBe('phases4')
})

test('a step between, a weight that a phase before it makes, and too many of them each begin another launch', () => {
  const step: Planned<null> = { nodes: [node(1)], fused: null, inputs: ['a'], outputs: ['b'] }
  const parts = (actions: Parameters<typeof joinPhases>[0]) =>
    joinPhases(actions).map(({ fused }) => fused?.parts?.length ?? 0)
  expect(parts([phased(0, 'x', 'a'), step, phased(2, 'b', 'c'), phased(3, 'c', 'd')])).toEqual([1, 0, 2])
  expect(parts([phased(0, 'x', 'w'), phased(1, 'x', 'y', { ahead: ['w'] })])).toEqual([1, 1])
  const puts = phased(0, 'x', 'a', { reuses: [['cache', 'w']] })
  expect(parts([puts, phased(1, 'a', 'y', { ahead: ['w'] })])).toEqual([1, 1])
  expect(parts(Array.from({ length: 600 }, (_, i) => phased(i, `${i}`, `${i + 1}`)))).toEqual([512, 88])
})

test('a phase of a model fits the 128 bytes it has', () => {
  const [vector] = inferenceVectors()
  const llama = { family: 'llama', rotaryBase: bitsOf(10_000), headSize: 16, keyHeads: 2, width: 64 } as const
  const model = { ...vector!.model, ...llama, hidden: 96, hasQkvBias: true }
  const { work } = tinyInference({ ...vector!, model, prompts: [[1, 2, 3]], total: 8 }, PLAIN_HASHER)
  const actions = planProgram(work.transition(3), true, new Set(work.state.keys()))
  const parts = actions.flatMap(({ fused }) => fused?.parts ?? [])
  expect(parts.length).toBeGreaterThan(5)
  const tools: Partial<FusedTools> = { at: () => 256n, shift: 0 }
  for (const part of parts) {
    const { places, words } = part.phase(tools as FusedTools)
    expect(16 + 8 * places.length + 4 * words.length).toBeLessThanOrEqual(128)
  }
})
