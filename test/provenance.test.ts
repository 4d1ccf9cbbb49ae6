import { describe, expect, test } from 'vitest'
import type { StatedJudgement } from '../src/core/certificate/judgementSchema.ts'
import type { Judgement } from '../src/core/certificate/judgeRun.ts'
import type { DeviceTotals } from '../src/core/identify/countCards.ts'
import type { MeasuredGpu } from '../src/core/identify/measured.ts'
import type { Inventory } from '../src/core/inventory/inventory.ts'
import { claimed, type Fact, inferred, measured, type Proven, proven } from '../src/core/params/provenance.ts'
import type { ScoreSource } from '../src/core/schedule/scoreInput.ts'
import type { checkRequirements } from '../src/core/score/checkRequirements.ts'
import type { ScoredDevice } from '../src/core/score/gpuTotals.ts'
import type { GpuScoreInput } from '../src/core/score/scoreBox.ts'

/** `npm run types` is the test: a line after `@ts-expect-error` that compiles fails it. */
const takes = <T>(_: (value: never) => T): void => {}

type Said = Inventory['devices'][number]
type Joining = Parameters<typeof checkRequirements>[0]

describe('attack 74: a value that is only claimed does not compile where a proven one must stand', () => {
  test('in a score', () => {
    // @ts-expect-error: the memory a box says it has
    takes<GpuScoreInput>((said: Said) => ({ count: 1, memoryBytes: said.memoryBytes }))
    // @ts-expect-error: the name a box gives its card is no card that we inferred
    takes<GpuScoreInput>((said: Said) => ({ count: 1, model: said.name }))
    // @ts-expect-error: a bare number does not say where it comes from
    takes<ScoredDevice['rates']>((rate: number) => ({ bf16: rate }))
    // @ts-expect-error: and what a claim is worth is not for the box to say
    takes<Fact<'proven'>>((said: Said) => ({ source: 'proven', value: said.memoryBytes }))
  })

  test('in the judgement of a claim, in a count, and in what a network asks of a box', () => {
    // @ts-expect-error
    takes<MeasuredGpu>((said: Said) => ({ memoryBytes: said.memoryBytes }))
    // @ts-expect-error
    takes<DeviceTotals>((said: Said) => ({ memoryBytes: said.memoryBytes }))
    // @ts-expect-error
    takes<Joining>((said: Said) => ({ gpu: { count: 1, memoryBytes: said.memoryBytes } }))
  })

  test('in a payment: what a file states is no judgement until it was recomputed', () => {
    // @ts-expect-error
    takes<ScoreSource['judgement']>((stated: StatedJudgement) => stated)
    takes<StatedJudgement>((ours: Judgement) => ours)
  })

  test('whoever marks it again: a value keeps its source', () => {
    // @ts-expect-error
    takes<Proven>((said: Said) => proven(said.memoryBytes))
    // @ts-expect-error
    takes<Proven>(() => proven(inferred(1)))
    // @ts-expect-error
    takes<Proven>(() => measured(1))
    takes<Proven>(() => proven(proven(1)))
  })
})

test('a mark is for the compiler alone', () => {
  const value = { rate: 1, names: ['a'] }
  for (const mark of [proven, measured, inferred, claimed]) expect(mark(value)).toBe(value)
})
