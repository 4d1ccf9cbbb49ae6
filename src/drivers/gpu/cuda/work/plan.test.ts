import { describe, expect, test } from 'vitest'
import { training } from '../../../../core/work/kinds/training/training.ts'
import { bitsOf } from '../../../../core/work/ops/shapes.ts'
import { type ShapedProgram, shapeProgram } from '../../../../core/work/program.ts'
import { EXACT_OPS } from '../../../../core/work/workOps.ts'
import type { FusedTools } from './fused.ts'
import { planProgram } from './plan.ts'

const bits = (numbers: Record<string, number>) =>
  Object.fromEntries(Object.entries(numbers).map(([name, value]) => [name, bitsOf(value)]))

function transition(family: 'gpt' | 'llama', headSize: number, tokens: number): ShapedProgram {
  const width = 2 * headSize
  const sizes = { layers: 2, width, heads: 2, keyHeads: 2, headSize, hidden: 4 * width, vocabulary: 64 }
  const model = {
    family,
    ...sizes,
    context: tokens,
    hasQkvBias: family === 'gpt',
    isTied: false,
    rotaryBase: bitsOf(10_000),
  }
  const numbers = bits({ beta1: 0.9, beta2: 0.95, epsilon: 1e-8, decay: 0.1, clip: 1 })
  const optimiser = { name: 'adamW', ...numbers, rates: [[0, bitsOf(3e-4)]] }
  const parameters = training.parameters.parse({ model, optimiser, sequences: 2, tokens, windows: 4, start: 'fresh' })
  return shapeProgram(
    EXACT_OPS,
    training.transition(parameters, { transition: 1, isCommitted: true, seed: new Uint8Array(32) }),
  )
}

/** Runs a plan without a card: everything that is read must be there, and nothing may be made twice. */
function walk(program: ShapedProgram, isFused: boolean): { kernels: string[]; made: Set<string>; there: Set<string> } {
  const there = new Set(program.there.keys())
  const made = new Set<string>()
  const kernels: string[] = []
  const at = (name: string): bigint => {
    if (!there.has(name)) throw new Error(`${name} is not there`)
    return 256n
  }
  const note = (name: string) => void kernels.push(name)
  const tools = {
    launcher: { launch: note, overElements: note },
    products: { room: () => 256n, zeros: () => 256n },
    at,
    table: () => 256n,
  } as unknown as FusedTools
  for (const { nodes, fused, inputs, outputs, free } of planProgram(program, isFused)) {
    for (const name of inputs) at(name)
    for (const name of outputs) {
      expect(made.has(name)).toBe(false)
      made.add(name)
      there.add(name)
    }
    if (fused) fused.run(tools)
    else kernels.push(nodes[0]!.op)
    for (const name of free) there.delete(name)
  }
  return { kernels, made, there }
}

describe.each([
  ['gpt', 64, 128],
  ['gpt', 128, 64],
  ['llama', 64, 64],
] as const)('a %s with heads of %i over %i tokens', (family, headSize, tokens) => {
  const program = transition(family, headSize, tokens)
  const kept = [...program.there.keys(), ...program.after, ...program.statistics]

  test('fused, finds everything there, leaves the next state and nothing else', () => {
    const { kernels, made, there } = walk(program, true)
    expect([...there].sort()).toEqual([...new Set(kept)].sort())
    for (const kernel of ['attend', 'attendBack', 'attendBackRows', 'attendBackColumns'])
      expect(kernels.filter((name) => name === `${kernel}${headSize}`)).toHaveLength(2)
    for (const op of ['exponential', 'exponentialBackward', 'gelu', 'norm', 'adamWFirst'])
      expect(kernels).not.toContain(op)
    const scores = program.steps.filter(
      ({ op, numbers }) => ['exponential', 'exponentialBackward'].includes(op) || numbers.mask,
    )
    expect(scores).toHaveLength(2 * 4)
    expect(scores.map(({ outputs }) => outputs[0]!).filter((name) => made.has(name))).toEqual([])
  })

  test('step by step, runs every step in its order', () => {
    expect(walk(program, false).kernels).toEqual(program.steps.map(({ op }) => op))
  })
})

test('heads of another size are not fused', () => {
  const { kernels } = walk(transition('gpt', 32, 64), true)
  expect(kernels).toContain('exponential')
  expect(kernels.some((name) => name.startsWith('attend'))).toBe(false)
})
