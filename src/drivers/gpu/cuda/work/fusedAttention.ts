import { MASK } from '../../../../core/work/workKernels.ts'
import type { KernelArgument } from '../loadLibcuda.ts'
import type { Fused } from './fused.ts'
import type { Graph, Node } from './graph.ts'

const HEAD_ROWS = 64
const THREADS = 128
/** Rows of so many numbers have their sums in one piece. */
const MOST_TOKENS = 4096
const SIZES = [64, 128]

const out = (node: Node): string => node.outputs[0]!

interface Sizes {
  readonly batch: number
  readonly shared: number
  readonly tokens: number
  readonly heads: number
  readonly size: number
}

/** What follows rounded shares or scores: a product, its scales, heads side by side. */
interface Into {
  readonly nodes: readonly Node[]
  readonly turned: string
  readonly fold: string
  readonly joined: Node
  readonly quantise: Node
}

function into(graph: Graph, x: string, mask: number): Into | null {
  const scale = graph.reader(x, 'rowScale')
  const quantise = graph.reader(x, 'quantise')
  const product = quantise && graph.reader(out(quantise), 'product')
  const made = product && graph.reader(out(product), 'dequantise')
  const joined = made && graph.reader(out(made), 'joinHeads')
  if (!scale || !quantise || !product || !made || !joined) return null
  const nodes = [scale, quantise, product, made, joined]
  const isChain =
    scale.inputs.length === 2 &&
    quantise.inputs[1] === out(scale) &&
    quantise.inputs[2] === scale.inputs[1] &&
    product.inputs[0] === out(quantise) &&
    (product.numbers.mask ?? MASK.none) === mask &&
    made.inputs[1] === out(scale) &&
    made.inputs.length === 2 &&
    made.numbers.factor === undefined &&
    [scale, quantise, product, made].every((node) => graph.isInner(out(node), nodes))
  return isChain ? { nodes, turned: product.inputs[1]!, fold: scale.inputs[1]!, joined, quantise } : null
}

interface Forward extends Into {
  readonly product: Node
  readonly scores: Node
  readonly maximum: Node
  readonly total: Node
  readonly softmax: Node
  readonly sizes: Sizes
}

function forwardAt(graph: Graph, softmax: Node): Forward | null {
  const [x, m, t] = softmax.inputs as [string, string, string]
  const scores = graph.maker(x, 'dequantise')
  const product = graph.maker(scores?.inputs[0], 'product')
  const [maximum, total] = [graph.maker(m, 'rowMaximum'), graph.maker(t, 'exponentialSum')]
  const then = into(graph, out(softmax), MASK.operand)
  if (!scores || !product || !maximum || !total || !then) return null
  const { batch = 1, shared = 1, mask } = product.numbers
  const { tokens = 0, heads = 0, size = 0 } = then.joined.numbers
  const periods = [maximum, total, softmax].every(({ numbers }) => numbers.period === tokens)
  const fits =
    mask === MASK.result &&
    periods &&
    then.quantise.numbers.key0 === undefined &&
    scores.numbers.hasColumns === 1 &&
    !scores.numbers.hasBias &&
    scores.numbers.rowsEach === tokens * shared &&
    graph.shapes.get(product.inputs[0]!)!.width === size &&
    graph.shapes.get(x)!.width === tokens &&
    SIZES.includes(size) &&
    tokens % HEAD_ROWS === 0 &&
    tokens <= MOST_TOKENS &&
    graph.isInner(out(product), [scores]) &&
    graph.isInner(x, [maximum, total, softmax])
  if (!fits) return null
  return { ...then, product, scores, maximum, total, softmax, sizes: { batch, shared, tokens, heads, size } }
}

function fuseForward({ product, scores, maximum, total, softmax, sizes, ...then }: Forward): Fused {
  const { batch, shared, tokens, heads, size } = sizes
  return {
    covers: [product, scores, maximum, total, softmax, ...then.nodes],
    writes: [out(maximum), out(total)],
    never: out(softmax),
    run: ({ launcher, products, at }) => {
      const given = [...product.inputs, then.turned, scores.inputs[1]!, scores.inputs[2]!, then.fold].map(at)
      const made = [out(then.joined), out(maximum), out(total)].map(at)
      const scales = products.room('head scales', 8 * batch * tokens)
      const args = [...given, ...made, scales, tokens, heads, shared, scores.numbers.factor!]
      for (const kernel of ['attendScales', 'attend'])
        launcher.launch(`${kernel}${size}`, [(batch * tokens) / HEAD_ROWS, 1], args, THREADS)
    },
  }
}

function backwardOf(graph: Graph, forward: Forward): Fused | null {
  const { product, scores, maximum, total, softmax, sizes } = forward
  const shares = out(softmax)
  const back = graph.reader(shares, 'softmaxBackward')
  const turnedShares = graph.reader(shares, 'transpose')
  if (!back || !turnedShares || back.inputs[0] !== shares) return null
  const dShares = graph.maker(back.inputs[1], 'dequantise')
  const inner = graph.maker(dShares?.inputs[0], 'product')
  const turnedScores = graph.reader(out(back), 'transpose')
  if (!dShares || !inner || !turnedScores) return null
  const intoQ = into(graph, out(back), MASK.operand)
  const intoK = into(graph, out(turnedScores), MASK.none)
  const intoV = into(graph, out(turnedShares), MASK.none)
  if (!intoQ || !intoK || !intoV) return null
  const { batch, shared, tokens, heads, size } = sizes
  const draws = [intoQ, intoK, intoV].map(({ quantise }) => quantise.numbers)
  const fits =
    shared === 1 &&
    back.numbers.factor === scores.numbers.factor &&
    back.numbers.period === tokens &&
    inner.numbers.mask === MASK.result &&
    dShares.numbers.hasColumns === 1 &&
    !dShares.numbers.hasBias &&
    dShares.numbers.factor === undefined &&
    draws.every(({ key0, rowsEach }) => key0 !== undefined && rowsEach === tokens) &&
    graph.isInner(out(inner), [dShares]) &&
    graph.isInner(out(dShares), [back]) &&
    graph.isInner(out(back), [turnedScores, ...intoQ.nodes]) &&
    graph.isInner(out(turnedScores), intoK.nodes) &&
    graph.isInner(out(turnedShares), intoV.nodes) &&
    graph.isInner(shares, [...forward.nodes, back, turnedShares])
  if (!fits) return null
  const covers = [inner, dShares, back, turnedScores, turnedShares, ...intoQ.nodes, ...intoK.nodes, ...intoV.nodes]
  return {
    covers,
    reads: [...product.inputs, out(maximum), out(total)],
    never: shares,
    run: ({ launcher, products, at }) => {
      const dots = products.room('dots', 4 * batch * tokens)
      const bytes = [...product.inputs, inner.inputs[1]!, inner.inputs[0]!].map(at)
      const scales = [intoK.fold, intoQ.fold, dShares.inputs[2]!, intoV.fold].map(at)
      const { key0, key1, transition } = draws[0]!
      const numbers = [tokens, heads, scores.numbers.factor!, key0!, key1!, transition!]
      const rounded = products.room('head scales', 8 * batch * tokens)
      const statistics = [at(out(maximum)), at(out(total)), dots, rounded]
      const common: KernelArgument[] = [...bytes, ...scales, ...statistics, ...numbers]
      const blocks: [number, number] = [(batch * tokens) / HEAD_ROWS, 1]
      const rows = [at(intoQ.turned), at(out(intoQ.joined)), draws[0]!.tensor!]
      for (const kernel of ['attendBackRowScales', 'attendBackRows'])
        launcher.launch(`${kernel}${size}`, blocks, [...common, ...rows], THREADS)
      const turned = [intoK, intoV].map((each) => at(each.turned))
      const made = [intoK, intoV].map((each) => at(out(each.joined)))
      const tensors = [draws[1]!.tensor!, draws[2]!.tensor!]
      for (const kernel of ['attendBackColumnScales', 'attendBackColumns'])
        launcher.launch(`${kernel}${size}`, blocks, [...common, ...turned, ...made, ...tensors], THREADS)
    },
  }
}

/** Attention from one softmax, there alone or there and back. */
export function matchAttention(graph: Graph, softmax: Node): readonly Fused[] {
  const forward = softmax.op === 'softmax' ? forwardAt(graph, softmax) : null
  if (!forward) return []
  const isAlone = graph.isInner(out(softmax), forward.nodes)
  const back = isAlone ? null : backwardOf(graph, forward)
  if (!isAlone && !back) return []
  return back ? [fuseForward(forward), back] : [fuseForward(forward)]
}
