import { MASK } from '../../../../core/work/workKernels.ts'
import type { KernelArgument } from '../loadLibcuda.ts'
import type { Fused } from './fused.ts'
import type { Graph, Node } from './graph.ts'

/** As kernels/cuda/work/attention.h has it: rows of a block, and columns of a tile, which are a piece. */
const HEAD_ROWS = 64
const THREADS = 128
/** Rows of so many numbers have their sums in one piece. */
const MOST_TOKENS = 4096
const SIZES = [64, 128]
/** Numbers to a warp of the kernel with which the way back begins, and its threads. */
const WARP_NUMBERS = 256
const BACK_THREADS = 256

const out = (node: Node): string => node.outputs[0]!

interface Sizes {
  readonly batch: number
  readonly shared: number
  readonly tokens: number
  readonly heads: number
  readonly size: number
}

/** A block with so many tiles in its shared memory, and so many vectors of numbers. */
const block = (size: number, tiles: number, vectors: number) => ({
  threads: THREADS,
  sharedBytes: tiles * HEAD_ROWS * (size + 16) + vectors * 4 * HEAD_ROWS,
})

/** Rounded in pieces, then a product in pieces with something turned. */
interface Into {
  readonly nodes: readonly Node[]
  readonly quantise: Node
  readonly fold: string
  readonly right: string
  readonly pieces: Node
}

function into(graph: Graph, x: string): Into | null {
  const scale = graph.reader(x, 'rowScale')
  const quantise = graph.reader(x, 'quantise')
  const pieces = quantise && graph.reader(out(quantise), 'productPieces')
  const turn = graph.maker(pieces?.inputs[2], 'transpose')
  if (!scale || !quantise || !pieces || !turn) return null
  const nodes = [scale, quantise, turn, pieces]
  const isChain =
    scale.inputs.length === 2 &&
    quantise.inputs[1] === out(scale) &&
    quantise.inputs[2] === scale.inputs[1] &&
    pieces.inputs[0] === out(quantise) &&
    pieces.inputs[1] === out(scale) &&
    [scale, quantise, pieces].every(({ numbers }) => numbers.piece === HEAD_ROWS) &&
    [scale, quantise, turn].every((node) => graph.isInner(out(node), nodes))
  return isChain ? { nodes, quantise, fold: scale.inputs[1]!, right: turn.inputs[0]!, pieces } : null
}

interface Forward extends Into {
  readonly covers: readonly Node[]
  readonly product: Node
  readonly scores: Node
  readonly maximum: Node
  readonly total: Node
  readonly exponential: Node
  readonly divide: Node
  readonly joined: Node
  readonly sizes: Sizes
}

function forwardAt(graph: Graph, exponential: Node): Forward | null {
  const [x, m] = exponential.inputs as [string, string]
  const scores = graph.maker(x, 'dequantise')
  const product = graph.maker(scores?.inputs[0], 'product')
  const maximum = graph.maker(m, 'rowMaximum')
  const total = graph.reader(out(exponential), 'rowSum')
  const then = into(graph, out(exponential))
  const divide = then && graph.reader(out(then.pieces), 'divideRows')
  const joined = divide && graph.reader(out(divide), 'joinHeads')
  if (!scores || !product || !maximum || !total || !divide || !joined) return null
  const { batch = 1, shared = 1, mask } = product.numbers
  const { tokens = 0, heads = 0, size = 0 } = joined.numbers
  const fits =
    mask === MASK.result &&
    [maximum, exponential].every(({ numbers }) => numbers.period === tokens) &&
    then.quantise.numbers.key0 === undefined &&
    scores.numbers.hasColumns === 1 &&
    !scores.numbers.hasBias &&
    scores.numbers.factor === undefined &&
    scores.numbers.rowsEach === tokens * shared &&
    divide.inputs[1] === out(total) &&
    graph.shapes.get(product.inputs[0]!)!.width === size &&
    graph.shapes.get(x)!.width === tokens &&
    SIZES.includes(size) &&
    tokens % HEAD_ROWS === 0 &&
    tokens <= MOST_TOKENS &&
    graph.isInner(out(then.pieces), [divide]) &&
    graph.isInner(out(product), [scores]) &&
    graph.isInner(x, [maximum, exponential])
  if (!fits) return null
  const covers = [product, scores, maximum, exponential, total, ...then.nodes, divide, joined]
  const sizes = { batch, shared, tokens, heads, size }
  return { ...then, covers, product, scores, maximum, total, exponential, divide, joined, sizes }
}

function fuseForward({ covers, product, scores, maximum, total, exponential, divide, joined, ...of }: Forward): Fused {
  const { batch, shared, tokens, heads, size } = of.sizes
  return {
    covers,
    writes: [out(maximum), out(total)],
    never: [out(exponential), out(divide)],
    run: ({ launcher, at }) => {
      const given = [...product.inputs, of.right, scores.inputs[1]!, scores.inputs[2]!, of.fold].map(at)
      const made = [out(joined), out(maximum), out(total)].map(at)
      const blocks: [number, number] = [(batch * tokens) / HEAD_ROWS, 1]
      const args = [...given, ...made, tokens, heads, shared]
      launcher.launch(`attend${size}`, blocks, args, block(size, 5, 4))
    },
  }
}

/** A scale for each query over the sum of its exponentials, as a row to be folded in. */
function sharedFold(graph: Graph, fold: string, total: string): { nodes: readonly Node[]; scales: string } | null {
  const reshape = graph.maker(fold, 'reshape')
  const divide = graph.maker(reshape?.inputs[0], 'divideRows')
  if (!reshape || !divide || divide.inputs[1] !== total) return null
  return { nodes: [reshape, divide], scales: divide.inputs[0]! }
}

/** What the gradient of what was attended to is made into: bytes by chance, and its dot with that. */
interface Begin {
  readonly nodes: readonly Node[]
  readonly split: Node
  readonly scale: Node
  readonly quantise: Node
}

function beginOf(graph: Graph, dot: Node): Begin | null {
  const x = dot.inputs[0]!
  const split = graph.maker(x, 'splitHeads')
  const scale = graph.reader(x, 'rowScale')
  const quantise = graph.reader(x, 'quantise')
  if (!split || !scale || !quantise) return null
  const nodes = [split, scale, quantise, dot]
  const isChain =
    scale.inputs.length === 1 &&
    quantise.inputs.length === 2 &&
    quantise.inputs[1] === out(scale) &&
    quantise.numbers.key0 !== undefined &&
    scale.numbers.piece === undefined &&
    graph.isInner(x, nodes)
  return isChain ? { nodes, split, scale, quantise } : null
}

/** The way back: gradients of queries, keys and values, in this order. */
interface Backward {
  readonly covers: readonly Node[]
  readonly begin: Begin
  readonly inner: Node
  readonly dShares: Node
  readonly intos: readonly [Into, Into, Into]
  readonly joined: readonly Node[]
}

function backwardAt(graph: Graph, forward: Forward): Backward | null {
  const { product, scores, total, exponential, sizes } = forward
  const weights = out(exponential)
  const back = graph.reader(weights, 'exponentialBackward')
  const turnedWeights = graph.reader(weights, 'transpose')
  const dot = graph.maker(back?.inputs[2], 'rowDot')
  const dShares = graph.maker(back?.inputs[1], 'dequantise')
  const inner = graph.maker(dShares?.inputs[0], 'product')
  const turnedScores = back && graph.reader(out(back), 'transpose')
  const begin = dot && beginOf(graph, dot)
  if (!back || !turnedWeights || !dot || !dShares || !inner || !turnedScores || !begin) return null
  const [intoQ, intoK, intoV] = [out(back), out(turnedScores), out(turnedWeights)].map((name) => into(graph, name))
  const divided = intoQ && graph.reader(out(intoQ.pieces), 'divideRows')
  const joined = [divided, intoK?.pieces, intoV?.pieces].map((node) => node && graph.reader(out(node), 'joinHeads'))
  const foldK = intoK && sharedFold(graph, intoK.fold, out(total))
  const foldV = intoV && sharedFold(graph, intoV.fold, out(total))
  if (!intoQ || !intoK || !intoV || !divided || !joined.every((node) => !!node) || !foldK || !foldV) return null
  const own = [begin.scale, begin.quantise, dot, inner, dShares, back, turnedScores, turnedWeights, divided]
  const inside = [...own, ...foldK.nodes, ...foldV.nodes, intoQ.pieces, intoK.pieces, intoV.pieces]
  const covers = [...new Set([begin.split, ...inside, ...intoQ.nodes, ...intoK.nodes, ...intoV.nodes, ...joined])]
  const fits =
    sizes.shared === 1 &&
    back.inputs[0] === weights &&
    back.numbers.period === sizes.tokens &&
    dot.inputs[1] === out(forward.divide) &&
    inner.numbers.mask === MASK.result &&
    inner.inputs[0] === out(begin.quantise) &&
    dShares.numbers.hasColumns === 1 &&
    !dShares.numbers.hasBias &&
    dShares.numbers.factor === undefined &&
    dShares.inputs[1] === out(begin.scale) &&
    intoQ.right === product.inputs[1] &&
    intoK.right === product.inputs[0] &&
    intoV.right === out(begin.quantise) &&
    foldK.scales === scores.inputs[1] &&
    foldV.scales === out(begin.scale) &&
    divided.inputs[1] === out(total) &&
    [intoQ, intoK, intoV].every(
      ({ quantise: { numbers } }) => numbers.key0 !== undefined && numbers.rowsEach === sizes.tokens,
    ) &&
    inside.every((node) => graph.isInner(out(node), covers)) &&
    [weights, out(forward.divide)].every((name) => graph.isInner(name, [...forward.covers, ...covers]))
  return fits ? { covers, begin, inner, dShares, intos: [intoQ, intoK, intoV], joined } : null
}

function fuseBackward(forward: Forward, { covers, begin, inner, dShares, intos, joined }: Backward): Fused {
  const { product, scores, maximum, total, exponential } = forward
  const { batch, tokens, heads, size } = forward.sizes
  const rows = batch * tokens
  const [tensorQ, tensorK, tensorV] = intos.map(({ quantise }) => quantise.numbers.tensor!)
  return {
    covers,
    reads: [...product.inputs, scores.inputs[1]!, scores.inputs[2]!, out(maximum), out(total), out(forward.joined)],
    never: [out(exponential), out(forward.divide)],
    run: ({ launcher, products, at }) => {
      const { key0, key1, tensor, transition } = begin.quantise.numbers
      const numbers = products.room('head numbers', 16 * rows)
      const vector = (n: number): bigint => numbers + BigInt(4 * n * rows)
      const [scales, dots, foldsQ, foldsDy] = [vector(0), vector(1), vector(2), vector(3)]
      const dy = products.room('head bytes', rows * size)
      const given = [begin.split.inputs[0]!, out(forward.joined), scores.inputs[1]!, out(total)].map(at)
      const made: KernelArgument[] = [dy, scales, dots, foldsQ, foldsDy, tokens, heads, rows]
      const beginning = [...given, ...made, key0!, key1!, tensor!, transition!]
      const warps = (rows * size) / WARP_NUMBERS
      const threads = BACK_THREADS
      launcher.launch(`attendBack${size}`, [Math.ceil((32 * warps) / threads), 1], beginning, { threads })
      const bytes = [...[...product.inputs, inner.inputs[1]!].map(at), dy]
      const by = [...[scores.inputs[1]!, scores.inputs[2]!, dShares.inputs[2]!].map(at), scales]
      const statistics = [at(out(maximum)), at(out(total)), dots]
      const common: KernelArgument[] = [...bytes, ...by, ...statistics, tokens, heads, key0!, key1!, transition!]
      const blocks: [number, number] = [rows / HEAD_ROWS, 1]
      const [toQ, toK, toV] = joined.map((node) => at(out(node)))
      const forRows = [...common, at(intos[0].fold), toQ!, tensorQ!]
      launcher.launch(`attendBackRows${size}`, blocks, forRows, block(size, 6, 6))
      const forColumns = [...common, foldsQ, foldsDy, toK!, toV!, tensorK!, tensorV!]
      launcher.launch(`attendBackColumns${size}`, blocks, forColumns, block(size, 6, 12))
    },
  }
}

/** Attention from its exponentials, there alone or there and back. */
export function matchAttention(graph: Graph, exponential: Node): readonly Fused[] {
  const forward = exponential.op === 'exponential' ? forwardAt(graph, exponential) : null
  if (!forward) return []
  const isAlone = [out(exponential), out(forward.divide)].every((name) => graph.isInner(name, forward.covers))
  const back = isAlone ? null : backwardAt(graph, forward)
  if (!isAlone && !back) return []
  return back ? [fuseForward(forward), fuseBackward(forward, back)] : [fuseForward(forward)]
}
