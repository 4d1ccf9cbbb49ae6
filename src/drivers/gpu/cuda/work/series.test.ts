import { expect, test } from 'vitest'
import { inferenceVectors, tinyInference } from '../../../../../test/support/tinyInference.ts'
import { PLAIN_HASHER } from '../../../../core/work/engineRun.ts'
import { bitsOf } from '../../../../core/work/ops/shapes.ts'
import { planProgram } from './plan.ts'
import { moved, ratesOf, reachOf } from './series.ts'

const [vector] = inferenceVectors()
const llama = {
  family: 'llama',
  rotaryBase: bitsOf(10_000),
  hasQkvBias: false,
  keyHeads: 2,
  headSize: 16,
  width: 64,
} as const
const { work } = tinyInference(
  {
    ...vector!,
    model: { ...vector!.model, ...llama, hidden: 96 },
    prompts: [
      [1, 2, 3, 4, 5, 6],
      [7, 8, 9],
      [1, 2],
    ],
    total: 20,
  },
  PLAIN_HASHER,
  { shown: 4 },
)
const states = new Set(work.state.keys())
const transitions = Array.from({ length: work.spec.transitions }, (_, i) => i + 1)

test('transitions that are said to be alike differ in numbers alone, which move on by as much each time', () => {
  for (const transition of transitions) {
    const first = work.alike(transition)
    expect(first).toBeLessThanOrEqual(transition)
    if (transition - first < 2) continue
    const from = work.transition(first)
    const rates = ratesOf(from, work.transition(first + 1))!
    const shift = transition - first
    const steps = from.steps.map((step, at) => ({ ...step, numbers: moved(step.numbers, rates[at]!, shift) }))
    expect(steps).toEqual(work.transition(transition).steps)
  }
  expect(new Set(transitions.map(work.alike))).toEqual(new Set([1, 2, 5]))
})

test('one plan serves all of them: a token is one launch, and the cache is written where it lies', () => {
  const program = work.transition(5)
  const actions = planProgram(program, true, states)
  const second = work.transition(6)
  expect(reachOf({ program, actions }, second, ratesOf(program, second)!)).toBeGreaterThan(4000)
  const fused = actions.filter((action) => action.fused)
  // Five phases of two layers, the head, and nothing of a cache that is made anew.
  expect(fused.map((action) => action.fused!.parts?.length)).toEqual([2 * 5 + 1])
  expect(fused.flatMap(({ fused: run }) => run!.reuses ?? [])).toHaveLength(2 * 4)
  expect(actions.flatMap(({ outputs }) => outputs).filter((name) => name.startsWith('put'))).toEqual([program.after[0]])
})

test('a program that is not alike has no rates, and single steps take their numbers from nobody', () => {
  expect(ratesOf(work.transition(1), work.transition(2))).toBeNull()
  const program = work.transition(5)
  const single = planProgram(program, false)
  const second = work.transition(6)
  // What single steps make grows with every token.
  expect(reachOf({ program, actions: single }, second, ratesOf(program, second)!)).toBe(0)
})
