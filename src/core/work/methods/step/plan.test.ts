import { beforeAll, describe, expect, test } from 'vitest'
import { begunMemory, openWasmExact, STEP_WORKS, type StepWork } from '../../../../../test/support/stepWorks.ts'
import { toHex } from '../../../bytes/hex.ts'
import type { TensorShape } from '../../tensor.ts'
import { runProgram } from '../../tensorMemory.ts'
import { coordinatesOfPlan, MOST_INNER, type Operand, planStep, type StepPlan } from './plan.ts'

const KINDS = Object.keys(STEP_WORKS) as readonly StepWork[]

interface Ran {
  readonly plan: StepPlan
  readonly tensors: ReadonlyMap<string, Uint8Array>
  readonly after: readonly Uint8Array[]
  readonly afterAsOrdered: readonly Uint8Array[]
}

/** A transition with everything that it made, by the plan's program and by the work's own. */
async function run(kind: StepWork): Promise<Ran> {
  const ready = STEP_WORKS[kind]()
  const asOrdered = ready.work.transition(1)
  const plan = planStep(ready.work.ops, asOrdered)
  const memory = begunMemory(await openWasmExact(), ready)
  const tensors = new Map([...plan.program.there.keys()].map((name) => [name, memory.bytes(name).slice()]))
  runProgram(ready.work.ops, memory, plan.program, (_, outputs) => {
    for (const name of outputs) tensors.set(name, memory.bytes(name).slice())
  })
  const plain = begunMemory(await openWasmExact(), ready)
  runProgram(ready.work.ops, plain, asOrdered)
  const names = [...asOrdered.after, ...asOrdered.statistics]
  const read = (from: typeof memory) => names.map((name) => from.bytes(name).slice())
  return { plan, tensors, after: read(memory), afterAsOrdered: read(plain) }
}

/** An operand of a product, entry by entry, from what is kept. */
function entriesOf({ plan, tensors }: Ran, { kept, isTurned }: Operand): (row: number, column: number) => number {
  const { name, isTurned: keptTurned } = plan.kept[kept]!
  const { width } = plan.program.shapes.get(name)!
  const bytes = new Int8Array(tensors.get(name)!.buffer)
  return (row, column) => (isTurned !== keptTurned ? bytes[column * width + row]! : bytes[row * width + column]!)
}

describe.each(KINDS)('the plan of a transition: %s', (kind) => {
  let ran: Ran
  beforeAll(async () => {
    ran = await run(kind)
  })

  test('runs to the same bits as the work says', () => {
    expect(ran.after.map(toHex)).toEqual(ran.afterAsOrdered.map(toHex))
  })

  test('has products that hold over what is kept', () => {
    expect(ran.plan.products.length).toBeGreaterThan(3)
    for (const { a, b, c, rows, columns, inner } of ran.plan.products) {
      const [left, right] = [entriesOf(ran, a), entriesOf(ran, b)]
      const sums = Int32Array.from({ length: rows * columns }, (_, i) => {
        let sum = 0
        for (let l = 0; l < inner; l++) sum += left(Math.floor(i / columns), l) * right(i % columns, l)
        return sum
      })
      expect(toHex(new Uint8Array(sums.buffer))).toBe(toHex(ran.tensors.get(ran.plan.kept[c]!.name)!))
    }
  })

  test('keeps every tensor once, int8 first', () => {
    const { kept, products } = ran.plan
    expect(new Set(kept.map(({ name }) => name)).size).toBe(kept.length)
    const types = kept.map(({ shape }) => shape.type)
    expect(types).toEqual([...types.filter((type) => type === 'i8'), ...types.filter((type) => type === 'i32')])
    const used = new Set(products.flatMap(({ a, b, c }) => [a.kept, b.kept, c]))
    expect(used.size).toBe(kept.length)
  })
})

describe('the plan of a transition of training', () => {
  const { work } = STEP_WORKS.gpt()
  const plan = planStep(work.ops, work.transition(1))
  const shapeOf = (at: number): TensorShape => plan.kept[at]!.shape

  test('has every product but those of attention, forward and back', () => {
    // Six matrices in each of two layers, and the head: the product itself, of the gradient of x and of the weight.
    expect(plan.products.length).toBe(3 * (2 * 6 + 1))
  })

  test('keeps what has a row for each token by tokens, and weights as they are', () => {
    const tokens = 64
    for (const { a, c } of plan.products) {
      const isOfWeights = plan.kept[c]!.name.endsWith('/sums')
      if (isOfWeights) expect([shapeOf(a.kept).rows, a.isTurned]).toEqual([tokens, true])
      else expect([shapeOf(a.kept).rows, a.isTurned, shapeOf(c).rows]).toEqual([tokens, false, tokens])
    }
  })

  test('keeps no more than the products that are wanted need', () => {
    const { products, kept } = planStep(work.ops, work.transition(1), (result) => result.endsWith('/sums'))
    expect(products.length).toBe(2 * 6 + 1)
    const used = products.flatMap(({ a, b, c }) => [a.kept, b.kept, c])
    expect(new Set(used)).toEqual(new Set(kept.keys()))
  })

  test('draws as many coordinates as the largest product has', () => {
    expect(coordinatesOfPlan(plan)).toEqual({ r: 7, s: 7, z: 7 })
  })

  test('leaves out products in batches, under a mask, in parts and of too long sums', () => {
    const made = (numbers: Readonly<Record<string, number>>, inner = 8) => {
      const there = new Map(['a', 'b'].map((name) => [name, { type: 'i8', rows: 4, width: inner } as const]))
      const steps = [{ op: 'product', inputs: ['a', 'b'], outputs: ['c'], numbers }]
      const shapes = new Map<string, TensorShape>([...there, ['c', { type: 'i32', rows: 4, width: 4 }]])
      const shaped = [{ inputs: [...there.values()], outputs: [shapes.get('c')!], numbers }]
      return planStep(work.ops, { there, steps, after: ['c'], statistics: [], shapes, shaped }).products.length
    }
    expect(made({})).toBe(1)
    expect([{ batch: 2 }, { mask: 1 }, { row: 1, rows: 2 }].map((numbers) => made(numbers))).toEqual([0, 0, 0])
    expect([made({}, MOST_INNER), made({}, MOST_INNER + 1)]).toEqual([1, 0])
  })
})
