import { readFileSync } from 'node:fs'
import { beforeAll, describe, expect, test } from 'vitest'
import { type Family, tinyTraining } from '../../../../../test/support/tinyTraining.ts'
import { sha256 } from '../../../bytes/sha256.ts'
import { checkReceipt } from '../../checkReceipt.ts'
import { EngineRun } from '../../engineRun.ts'
import { floatOf } from '../../ops/shapes.ts'
import { proveWork } from '../../proveWork.ts'
import { patchRunner } from '../../runPatch.ts'
import type { StateMark } from '../../stateChain.ts'
import type { Work } from '../../work.ts'
import { engineOnOwned, hasherOn } from '../../workEngine.ts'
import { createWorkKernels, type WorkKernels } from '../../workKernels.ts'
import { EXACT_OPS } from '../../workOps.ts'

const wasm = readFileSync(new URL('../../../../../kernels/built/work.wasm', import.meta.url))
const engine = async () => engineOnOwned(await createWorkKernels(wasm))

interface Trained {
  readonly work: Work<WorkKernels>
  readonly run: EngineRun<WorkKernels>
  readonly firstRoot: Uint8Array
  readonly marks: readonly StateMark[]
}

async function train(family: Family, transitions: number): Promise<Trained> {
  const hasher = hasherOn(await engine())
  const { work, given } = tinyTraining(family, transitions, hasher)
  const run = new EngineRun<WorkKernels>(await engine(), work, given, hasher)
  const { root: firstRoot } = run.advance(-1)
  run.keep(-1)
  const marks = work.ends.map((_, segment) => {
    const mark = run.advance(segment)
    if (segment % 7 === 0) run.keep(segment)
    return mark
  })
  return { work, run, firstRoot, marks }
}

const lossAt = ({ marks }: Trained, segment: number) => floatOf(marks.at(segment)!.statistics[0]!)

describe.each(['gpt', 'llama'] as const)('a %s-shaped decoder', (family) => {
  let trained: Trained
  beforeAll(async () => {
    trained = await train(family, 40)
  })

  test('learns: its loss falls far below that of guessing', () => {
    expect(lossAt(trained, 0)).toBeGreaterThan(Math.log(64) - 0.2)
    expect(lossAt(trained, -1)).toBeLessThan(2)
  })

  test('is shown by openings that anyone checks; another loss is not', async () => {
    const { work, run, firstRoot, marks } = trained
    const proof = await proveWork(work, { firstRoot, marks }, run, (draw) => sha256(Uint8Array.of(draw)))
    const receipt = { ...proof, workId: work.workId, firstRoot, marks }
    const runner = patchRunner<WorkKernels>(await engine(), EXACT_OPS)
    const { problem, figures } = checkReceipt(work, receipt, runner)
    expect(problem).toBeNull()
    expect(figures.drawnSegments).toBe(9)
    expect(figures.patches).toBeGreaterThan(300)
    const other = marks.map((mark, i) =>
      i === 39 ? { ...mark, statistics: [mark.statistics[0]! ^ 1, mark.statistics[1]!] } : mark,
    )
    expect(checkReceipt(work, { ...receipt, marks: other }, runner).problem).not.toBeNull()
  })
})

test('two runs come to the same bits, and one that begins in the middle does too', async () => {
  const whole = await train('gpt', 6)
  const again = await train('gpt', 6)
  expect(again.marks).toEqual(whole.marks)
  const state = new Map<string, Uint8Array>()
  const { work, run } = again
  run.trace(3)
  for (const name of work.state.keys()) state.set(name, run.read(name))
  expect(run.replayFrom(4, state)).toEqual(whole.marks[4])
})
