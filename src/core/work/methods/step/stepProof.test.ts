import { describe, expect, test } from 'vitest'
import { provenLayer, STEP_CHEATS, stepCheatsAmiss } from '../../../../../test/support/stepCheats.ts'
import {
  begunMemory,
  openWasm,
  openWasmExact,
  openWasmStep,
  STEP_WORKS,
  type StepWork,
} from '../../../../../test/support/stepWorks.ts'
import { concatBytes } from '../../../bytes/bytes.ts'
import { toHex } from '../../../bytes/hex.ts'
import { engineOnOwned, stepEngineOnOwned } from '../../workEngine.ts'
import { planStep } from './plan.ts'
import { productsError } from './products.ts'
import { checkProducts, commitStep, proveCommittedStep } from './stepProof.ts'

const engine = await openWasmStep()
const KINDS = Object.keys(STEP_WORKS) as readonly StepWork[]

describe('the products of a transition', () => {
  test.each(KINDS)('are proven in one run and checked without it: %s', async (kind) => {
    const ready = STEP_WORKS[kind]()
    const plan = planStep(ready.work.ops, ready.work.transition(1))
    const memory = begunMemory(await openWasmExact(), ready)
    const { name, shape } = plan.kept.at(-1)!
    let made = new Uint8Array()
    const committed = commitStep(engine, ready.work.ops, memory, plan, (_, outputs) => {
      if (outputs.includes(name)) made = memory.bytes(name).slice()
    })
    const { workId } = ready.work
    const statement = { workId, transition: 1, root: committed.root, more: Uint8Array.of(1, 2) }
    const reveals = [{ name, row: shape.rows - 1, rows: 1 }]
    const proof = proveCommittedStep(committed, statement, reveals)
    const row = made.slice(-4 * shape.width)
    // At any place of a memory, as it comes out of a file.
    const read = concatBytes(Uint8Array.of(0), proof).subarray(1)
    expect(checkProducts(await openWasmStep(), plan, statement, reveals, read)).toEqual({ revealed: [row] })
  })

  test('are the same where what is kept is made in its place', async () => {
    const ready = STEP_WORKS.gpt()
    const plan = planStep(ready.work.ops, ready.work.transition(1))
    const owned = await openWasm()
    const [exact, step] = [engineOnOwned(owned), { ...stepEngineOnOwned(owned), start: 2 ** 24 }]
    const [memory, apart] = [begunMemory(exact, ready), begunMemory(await openWasmExact(), ready)]
    expect([memory.isOn(step), apart.isOn(step)]).toEqual([true, false])
    const made = commitStep(step, ready.work.ops, memory, plan)
    const handed = commitStep(await openWasmStep(), ready.work.ops, apart, plan)
    expect(plan.kept.filter(({ name }) => made.matrix.placeOf(name) !== null).length).toBeGreaterThan(20)
    expect(made.root).toEqual(handed.root)
    const { after } = plan.program
    expect(after.map((name) => toHex(memory.bytes(name)))).toEqual(after.map((name) => toHex(apart.bytes(name))))
  })

  test('are told from others with an error below 2^-110', () => {
    const { work } = STEP_WORKS.gpt()
    expect(productsError(planStep(work.ops, work.transition(1)))).toBeLessThan(-116)
    const [product] = provenLayer(engine, 1).plan.products
    const largest = { ...product!, rows: 2 ** 20, columns: 2 ** 20, inner: 2 ** 16 }
    expect(productsError({ kept: [], products: Array.from({ length: 4000 }, () => largest) })).toBeLessThan(-110)
  })
})

describe('the products of a transition, cheated on (attacks 212 and 213 among others)', () => {
  test.each(Object.entries(STEP_CHEATS))('%s is found, 8 times', (_, cheat) => {
    expect(stepCheatsAmiss(engine, cheat, 8)).toEqual([])
  })
})
