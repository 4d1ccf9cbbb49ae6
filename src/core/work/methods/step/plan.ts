import type { Ops, Program, ShapedProgram, Step } from '../../program.ts'
import { shapeProgram } from '../../program.ts'
import type { TensorShape } from '../../tensor.ts'
import { coordinatesOf } from '../sumcheck/evaluate.ts'
import { P } from './field31.ts'

/** W2.2.3. Entries of operands are between -127 and 127. */
export const MOST_ENTRY = 127
/** W12.2.1. Longer sums could be p / 2 and more, so that two of them are one number of the field. */
export const MOST_INNER = Math.floor((P - 1) / 2 / MOST_ENTRY ** 2)

/** A tensor under the commitment: that of the program, or turned. */
export interface Kept {
  readonly name: string
  /** As it is kept. */
  readonly shape: TensorShape
  /** Rows here are columns of the program's tensor: channels by tokens are kept as tokens by channels. */
  readonly isTurned: boolean
}

/** An operand of a product: which of the kept tensors, and whether its rows are those of what is kept. */
export interface Operand {
  readonly kept: number
  readonly isTurned: boolean
}

/** C[i][j] = sum over l of A[i][l] B[j][l], over kept tensors. */
export interface PlannedProduct {
  readonly step: number
  readonly a: Operand
  readonly b: Operand
  /** Which of the kept tensors C is. */
  readonly c: number
  readonly rows: number
  readonly columns: number
  readonly inner: number
}

/** Products over kept tensors. */
export interface ProductsPlan {
  /** int8 first, each in the order in which they are there. */
  readonly kept: readonly Kept[]
  readonly products: readonly PlannedProduct[]
}

/** What is proven of a transition: the same for everybody who has its program. */
export interface StepPlan extends ProductsPlan {
  /** The program that is run: products in one piece are products and their scales apart. */
  readonly program: ShapedProgram
}

/** W12.2.1. Whole products of two matrices: no batch, no mask, no part of one. */
function isWhole({ numbers }: Step, inner: number): boolean {
  const { batch = 1, shared = 1, mask = 0, row, rows } = numbers
  return batch === 1 && shared === 1 && mask === 0 && row === undefined && rows === undefined && inner <= MOST_INNER
}

/** W12.2.2. The name of the sums of a product in one piece, before its scales. */
export const sumsOf = (output: string): string => `${output}/sums`

function splitPiece(step: Step, [a]: readonly TensorShape[]): readonly Step[] {
  const { op, inputs, outputs, numbers, ...marks } = step
  if (op !== 'productPieces' || numbers.piece! < a!.width || !isWhole(step, a!.width)) return [step]
  const [x, scales, y] = inputs as [string, string, string]
  const sums = sumsOf(outputs[0]!)
  return [
    { op: 'product', inputs: [x, y], outputs: [sums], numbers: {}, ...marks },
    { op: 'dequantise', inputs: [sums, scales], outputs, numbers: {}, ...marks },
  ]
}

/** W12.2.2. The same program to the bit, with a product and its scales in the place of a product in one piece. */
export function provenProgram<K>(
  ops: Ops<K>,
  program: ShapedProgram,
  before: ShapedProgram | null = null,
): ShapedProgram {
  const steps = program.steps.flatMap((step, at) => splitPiece(step, program.shaped[at]!.inputs))
  const { there, after, statistics } = program
  return shapeProgram(ops, { there, steps, after, statistics } satisfies Program, before)
}

/** Which step makes a tensor. */
function makersOf({ steps }: Program): ReadonlyMap<string, Step> {
  return new Map(steps.flatMap((step) => step.outputs.map((name) => [name, step] as const)))
}

/** A copy with rows and columns in each other's place. */
export const isTurn = (step: Step | undefined): step is Step =>
  step?.op === 'transpose' && (step.numbers.batch ?? 1) === 1

/** W12.2.3. What was rounded from a turned tensor is kept as that one lay. */
function isKeptTurned(makers: ReadonlyMap<string, Step>, name: string): boolean {
  const maker = makers.get(name)
  return maker?.op === 'quantise' && isTurn(makers.get(maker.inputs[0]!))
}

/** W12.2.3. The tensor that this is a turned copy of, or itself. */
function sourceOf(
  makers: ReadonlyMap<string, Step>,
  name: string,
): { readonly name: string; readonly isTurned: boolean } {
  let [found, isTurned] = [name, false]
  for (let maker = makers.get(found); isTurn(maker); maker = makers.get(found)) {
    found = maker.inputs[0]!
    isTurned = !isTurned
  }
  return { name: found, isTurned }
}

const turned = ({ type, rows, width }: TensorShape): TensorShape => ({ type, rows: width, width: rows })

/** W12.2. The products of a program, or those of them that are wanted, and the tensors that must be kept for them. */
export function planStep<K>(
  ops: Ops<K>,
  of: ShapedProgram,
  isWanted: (result: string, shape: TensorShape) => boolean = () => true,
): StepPlan {
  const program = provenProgram(ops, of)
  const { steps, shaped, shapes, there } = program
  const makers = makersOf(program)
  const whole = [...steps.entries()].filter(
    ([at, step]) =>
      step.op === 'product' &&
      isWhole(step, shaped[at]!.inputs[0]!.width) &&
      isWanted(step.outputs[0]!, shaped[at]!.outputs[0]!),
  )
  const wanted = new Set(
    whole.flatMap(([, { inputs, outputs }]) => [...inputs.map((name) => sourceOf(makers, name).name), ...outputs]),
  )
  const inOrder = [...there.keys(), ...steps.flatMap(({ outputs }) => outputs)].filter((name) => wanted.has(name))
  const kept = (['i8', 'i32'] as const).flatMap((type) =>
    inOrder
      .filter((name) => shapes.get(name)!.type === type)
      .map((name): Kept => {
        const [shape, isTurned] = [shapes.get(name)!, isKeptTurned(makers, name)]
        return { name, shape: isTurned ? turned(shape) : shape, isTurned }
      }),
  )
  const places = new Map(kept.map(({ name }, at) => [name, at]))
  const operandOf = (name: string): Operand => {
    const source = sourceOf(makers, name)
    const at = places.get(source.name)!
    return { kept: at, isTurned: source.isTurned !== kept[at]!.isTurned }
  }
  const products = whole.map(([step, { inputs, outputs }]): PlannedProduct => {
    const [a, b] = shaped[step]!.inputs as [TensorShape, TensorShape]
    const [nameA, nameB] = inputs as [string, string]
    const sizes = { rows: a.rows, columns: b.rows, inner: a.width }
    return { step, a: operandOf(nameA), b: operandOf(nameB), c: places.get(outputs[0]!)!, ...sizes }
  })
  return { program, kept, products }
}

/** Coordinates of the largest of each size: so many are drawn, and each product takes the first. */
export function coordinatesOfPlan({ products }: ProductsPlan): Readonly<Record<'r' | 's' | 'z', number>> {
  const most = (size: (of: PlannedProduct) => number) => Math.max(0, ...products.map((of) => coordinatesOf(size(of))))
  return { r: most(({ rows }) => rows), s: most(({ columns }) => columns), z: most(({ inner }) => inner) }
}
