import { readFileSync } from 'node:fs'
import { beforeAll, describe, expect, test } from 'vitest'
import {
  nonceFor,
  type SmallStep,
  smallDecoder,
  smallMlp,
  smallStep,
  type Tampering,
} from '../../../../../test/support/smallStep.ts'
import { chanceFlow, chanceProduct } from '../../../../../test/support/smallWorks.ts'
import { tinyTraining } from '../../../../../test/support/tinyTraining.ts'
import { chanceFrom } from '../../../../../test/support/workTrials.ts'
import { sha256 } from '../../../bytes/sha256.ts'
import { WorkRefusal } from '../../refusals.ts'
import type { Work } from '../../work.ts'
import { engineOnOwned, hasherOn, stepEngineOnOwned } from '../../workEngine.ts'
import { createWorkKernels, type WorkKernels } from '../../workKernels.ts'
import { EXACT_OPS } from '../../workOps.ts'
import { checkTransition } from './checkStep.ts'
import type { CommittedTransition } from './proveStep.ts'
import { drawRest, type RestDraws, revealsOf, type TransitionProof } from './rest.ts'
import { planRest } from './restPlan.ts'
import { stepError } from './stepProof.ts'

const wasm = readFileSync(new URL('../../../../../kernels/built/work.wasm', import.meta.url))
const open = {
  exact: async () => engineOnOwned(await createWorkKernels(wasm)),
  step: async () => stepEngineOnOwned(await createWorkKernels(wasm)),
}
const NONCE = sha256(Uint8Array.of(7))

let gpt: SmallStep
beforeAll(async () => {
  gpt = await smallStep(smallDecoder('gpt'), open)
})

const checked = (
  { checker, work, plan }: SmallStep,
  of: CommittedTransition,
  nonce: Uint8Array,
  proof: TransitionProof,
) => checkTransition(checker, work, plan, of, of.said, nonce, proof)

const MAKERS = [
  ['GPT', smallDecoder('gpt')],
  ['Llama', smallDecoder('llama')],
  ['MLP', smallMlp],
] as const
test.each(MAKERS)(
  'a transition of a small %s is proven whole, all products or those that are sums',
  async (_, make) => {
    for (const wanted of ['all', 'shared'] as const) {
      const small = await smallStep(make, open, wanted)
      const committed = small.commit()
      expect(checked(small, committed, NONCE, committed.prove(NONCE))).toBeNull()
    }
  },
)

test('where sums alone are proven, other products are found wrong in drawn sequences', async () => {
  const small = await smallStep(smallDecoder('gpt'), open, 'shared')
  const { products, kept } = small.plan.products
  expect(products.map(({ c }) => kept[c]!.name).every((name) => name.endsWith('/sums'))).toBe(true)
  const wrong = (name: string, wish: (draws: RestDraws) => boolean) => {
    const committed = small.commit(new Map([[name, (bytes: Uint8Array) => bytes.fill(1, 0, 64)]]))
    const nonce = nonceFor(small, committed, wish)
    return checked(small, committed, nonce, committed.prove(nonce))
  }
  expect(wrong('product#1', draws(0))).toMatchObject({ code: 'STEP_WRONG', sequence: 0 })
  expect(wrong('product#1', ({ sequences }) => !sequences.includes(0))).toBeNull()
  expect(wrong(kept[products[0]!.c]!.name, () => true)).toMatchObject({ code: 'WRONG_VALUE' })
  const weight = small.plan.whole.steps[small.plan.turned[0]!]!.inputs[0]!
  expect(small.plan.vectors.has(weight)).toBe(true)
  expect(
    wrong(weight, ({ patches }) =>
      small.plan.rest.steps.some(({ outputs }, i) => outputs[0] === weight && patches[i]!.patch === 0),
    ),
  ).toMatchObject({ code: 'PATCH_WRONG' })
})

const floatsIn = (bytes: Uint8Array) => new Float32Array(bytes.buffer, bytes.byteOffset, bytes.length / 4)
const raised = (bytes: Uint8Array) => {
  const floats = floatsIn(bytes)
  for (const i of floats.keys()) floats[i] = floats[i]! + 1
}
/** The step of the rest that makes a tensor is among the patches. */
const opens =
  (tensor: string) =>
  ({ patches }: RestDraws) =>
    patches.some(({ step }) => gpt.plan.rest.steps[step]!.outputs[0] === tensor)
const draws =
  (sequence: number) =>
  ({ sequences }: RestDraws) =>
    sequences.includes(sequence)

/** The first tensor that an op makes of inputs that lie so. */
function madeBy(op: string, lies: string): string {
  const { whole, lies: lieOf } = gpt.plan
  const isIt = (inputs: readonly string[]) => inputs.map((name) => lieOf.get(name)![0]).join('') === lies
  return whole.steps.find((step) => step.op === op && isIt(step.inputs))!.outputs[0]!
}

describe('who cheats', () => {
  const problemOf = (tampering: Tampering, wish: (draws: RestDraws) => boolean) => {
    const committed = gpt.commit(tampering)
    const nonce = nonceFor(gpt, committed, wish)
    return checked(gpt, committed, nonce, committed.prove(nonce))
  }

  test('with an activation of a sequence that is drawn', () => {
    const tampering = new Map([['gelu#1', (bytes: Uint8Array) => raised(bytes.subarray(0, 64))]])
    expect(problemOf(tampering, draws(0))).toMatchObject({ code: 'STEP_WRONG', sequence: 0 })
    expect(problemOf(tampering, ({ sequences }) => !sequences.includes(0))).toBeNull()
  })

  test('with a row of attention', () => {
    const problem = problemOf(
      new Map([['exponential#1', (bytes) => raised(bytes.subarray(5 * 64, 5 * 64 + 4))]]),
      draws(0),
    )
    expect(problem).toMatchObject({ code: 'STEP_WRONG', sequence: 0 })
  })

  test('with other chance where a number is rounded', () => {
    const name = madeBy('quantise', 'csc')
    const problem = problemOf(new Map([[name, (bytes) => bytes.set(bytes.slice(1))]]), () => true)
    expect(problem).toMatchObject({ code: 'STEP_WRONG', tensor: name })
  })

  test('with sequences in another order', () => {
    const swap = (bytes: Uint8Array) => {
      const each = bytes.length / 4
      bytes.set(Uint8Array.of(...bytes.slice(each, 2 * each), ...bytes.slice(0, each)))
    }
    // Which of the two comes first depends on the leaves that are drawn.
    const codes = ['SHARED_NOT_COMMITTED', 'STEP_WRONG']
    expect(codes).toContain(problemOf(new Map([['windowOrder#1', swap]]), draws(0))?.code)
    expect(problemOf(new Map([['embed#1', swap]]), draws(0))).toMatchObject({ code: 'STEP_WRONG', sequence: 0 })
  })

  test('with other windows of the data', () => {
    const others = (bytes: Uint8Array) => bytes.fill(0)
    expect(problemOf(new Map([['windowOrder#1', others]]), () => true)).toEqual({ code: 'INPUT_NOT_COMMITTED' })
  })

  test.each([
    ['scales of channels', 'rowScale', 'cc'],
    ['sums of a bias', 'rowSum', 'c'],
    ['scales of weights', 'rowScale', 's'],
    ['rounded weights', 'quantise', 'ss'],
    ['gradients of weights', 'dequantise', 'ss'],
    ['a table of gradients', 'embedBackward', 'rcs'],
    ['weights', 'adamWWeight', 'sss'],
  ])('with %s', (_, op, lies) => {
    const name = madeBy(op, lies)
    const tamper = op === 'quantise' ? (bytes: Uint8Array) => bytes.set(bytes.map((byte) => byte ^ 1)) : raised
    const problem = problemOf(new Map([[name, tamper]]), opens(name))
    expect(problem).toEqual({ code: 'PATCH_WRONG', step: op, tensor: name })
  })

  test.each(['clipFactor#1', 'loss#1'])('with %s, or any other vector that follows from vectors', (name) => {
    const problem = problemOf(new Map([[name, raised]]), () => true)
    expect(problem).toMatchObject({ code: 'VECTOR_WRONG', tensor: name })
  })

  test('with what is summed over all tokens', () => {
    const terms = gpt.plan.whole.steps.find(({ op }) => op === 'normGainTerms')!.outputs[0]!
    const turned = gpt.plan.whole.steps.find(({ inputs }) => inputs.includes(terms))!.outputs[0]!
    const problem = problemOf(new Map([[turned, raised]]), () => true)
    expect(problem).toMatchObject({ code: 'COLUMNS_WRONG', tensor: turned })
  })

  test('with the same rows of what is summed in every sequence (attack 230)', () => {
    const terms = gpt.plan.whole.steps.find(({ op }) => op === 'normGainTerms')!.outputs[0]!
    const turned = gpt.plan.whole.steps.find(({ inputs }) => inputs.includes(terms))!.outputs[0]!
    const firstHalf = (bytes: Uint8Array) => raised(bytes.subarray(0, bytes.length / 2))
    const half = gpt.plan.whole.shapes.get(turned)!.rows / 2
    const problem = problemOf(new Map([[turned, firstHalf]]), ({ ties }) => {
      const isWrong = ties.filter(({ name }) => name === turned).map(({ rows }) => rows.some((row) => row < half))
      return isWrong.length === 2 && !isWrong[0] && isWrong[1]!
    })
    expect(problem).toMatchObject({ code: 'COLUMNS_WRONG', tensor: turned })
  })

  test('with another state before or after, other figures, or roots that are missing', () => {
    const of = gpt.commit()
    const proof = of.prove(NONCE)
    const other = new Uint8Array(32)
    const codeWith = (change: Partial<CommittedTransition>) => checked(gpt, { ...of, ...change }, NONCE, proof)?.code
    expect(codeWith({ before: other })).toBe('STATE_BEFORE_DIFFERS')
    expect(codeWith({ after: { ...of.after, root: other } })).toBe('STATE_AFTER_DIFFERS')
    const statistics = of.after.statistics.map((bits) => bits ^ 1)
    expect(codeWith({ after: { ...of.after, statistics } })).toBe('STATISTICS_DIFFER')
    expect(codeWith({ said: { ...of.said, roots: of.said.roots.slice(1) } })).toBe('ROOTS_MISSING')
    expect(codeWith({ said: { ...of.said, root: other } })).toBeTypeOf('string')
    expect(checked(gpt, of, other, proof)?.code).toBeTypeOf('string')
  })
})

test('attack 237: what is rounded to zeros need not be multiplied: all products show no more of who is not drawn', () => {
  const { plan } = gpt
  const rounded = [...plan.kept].filter(([name, { shape }]) => shape.type === 'i8' && plan.lies.get(name) === 'rows')
  const leaveOut = (bytes: Uint8Array) => bytes.fill(0, 0, bytes.length / plan.count)
  const committed = gpt.commit(new Map(rounded.map(([name]) => [name, leaveOut])))
  const judged = (wish: (draws: RestDraws) => boolean) => {
    const nonce = nonceFor(gpt, committed, wish)
    return checked(gpt, committed, nonce, committed.prove(nonce))
  }
  expect(judged(({ sequences }) => !sequences.includes(0))).toBeNull()
  expect(judged(draws(0))).toMatchObject({ code: 'STEP_WRONG', sequence: 0 })
})

test('what does not come apart into sequences is refused before anything is run', async () => {
  const hasher = hasherOn(await open.exact())
  const refused = (work: Work<WorkKernels>) => expect(() => planRest(EXACT_OPS, work, 1)).toThrow(WorkRefusal)
  refused(tinyTraining('gpt', 2, hasher, { shards: 2 }).work)
  const chance = chanceFrom(1)
  refused(chanceProduct(chance, hasher).work)
  refused(chanceFlow(chance, hasher).work)
})

test.each(MAKERS)('the plan of a transition of a %s is the same with that of another one at hand', async (_, make) => {
  const { work } = make(hasherOn(await open.exact()))
  const other = planRest(EXACT_OPS, work, 2, 'shared')
  for (const wanted of ['all', 'shared'] as const)
    expect(planRest(EXACT_OPS, work, 3, wanted, other)).toEqual(planRest(EXACT_OPS, work, 3, wanted))
})

test('a wrong product passes with less than 2^-100', () => {
  const { work, plan } = gpt
  const reveals = revealsOf(work.ops, plan, drawRest(work.ops, plan, NONCE))
  expect(stepError(plan.products, reveals)).toBeLessThan(-100)
  expect(stepError(plan.products, reveals)).toBeGreaterThan(-102)
})
