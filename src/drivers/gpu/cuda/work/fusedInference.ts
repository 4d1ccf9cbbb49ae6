import { bitsOf } from '../../../../core/work/ops/shapes.ts'
import { rowBytes } from '../../../../core/work/tensor.ts'
import type { Fused, FusedTools, Phased } from './fused.ts'
import type { Graph, Node } from './graph.ts'

/** As kernels/cuda/work/rowLinear.h, attendPlace.h and prefill.h have them. */
const MOST_ROWS = 4
const MOST_ROW_BYTES = 14_336
const MOST_NORM = 8192
const MOST_SEEN = 4096
const MOST_SILU = 12_160
const MOST_NORM_ROW = 4096
const HEAD_PIECE = 64
const HEADS_EACH = 8
const CACHED_SIZES = [16, 32, 64, 128]
const MOST_HEAD = 128
const THREADS = 512
const NOBODY = 0n
const THEN = { nothing: 0, add: 1, gelu: 2, silu: 3 } as const

const out = (node: Node): string => node.outputs[0]!
const isPlain = ({ numbers }: Node): boolean => Object.keys(numbers).length === 0

/** The step that makes a tensor what it is read as, if nobody else reads it. */
const onlyReader = (graph: Graph, name: string): Node | null => {
  const readers = graph.readers(name)
  return readers.length === 1 && graph.isInner(name, readers) ? readers[0]! : null
}

/** A matrix with its scales and bias: a product of rows, and what makes numbers of its sums. */
interface Linear {
  readonly product: Node
  readonly made: Node
  readonly weight: string
  readonly columns: string
  readonly bias: string | undefined
}

function linearOf(graph: Graph, product: Node, scales: string): Linear | null {
  const made = onlyReader(graph, out(product))
  if (product.op !== 'product' || !isPlain(product) || made?.op !== 'dequantise') return null
  const [, rowScales, columns, bias] = made.inputs
  const { hasColumns, factor, rowsEach } = made.numbers
  const fits = hasColumns === 1 && factor === undefined && rowsEach === undefined && rowScales === scales
  return fits ? { product, made, weight: product.inputs[1]!, columns: columns!, bias } : null
}

/** A norm that nobody but these steps asks for, with its statistics. */
function normBefore(graph: Graph, x: string, readers: readonly Node[]): readonly Node[] | null {
  const norm = graph.maker(x, 'norm')
  if (!norm || !graph.isInner(x, readers)) return null
  const [of, inverse, , mean] = norm.inputs
  const inverses = graph.maker(inverse, 'normInverse')
  const means = mean === undefined ? null : graph.maker(mean, 'rowMean')
  if (!inverses || inverses.inputs[0] !== of || inverses.inputs[1] !== mean) return null
  if (mean !== undefined && means?.inputs[0] !== of) return null
  const nodes = [...(means ? [means] : []), inverses, norm]
  return nodes.every((node) => node === norm || graph.isInner(out(node), nodes)) ? nodes : null
}

/** What becomes of the numbers at once: nothing, a sum, GELU, or SiLU of one times the other. */
function thenOf(graph: Graph, made: readonly Node[]): { readonly how: keyof typeof THEN; readonly last: Node } | null {
  const [first, second] = made as [Node, Node?]
  const next = onlyReader(graph, out(first))
  if (second) {
    const isSilu = next?.op === 'siluProduct' && onlyReader(graph, out(second)) === next
    const inOrder = next?.inputs[0] === out(first) && next.inputs[1] === out(second)
    return isSilu && inOrder ? { how: 'silu', last: next } : null
  }
  if (next?.op === 'gelu') return { how: 'gelu', last: next }
  return next?.op === 'add' && next.inputs[0] !== next.inputs[1]
    ? { how: 'add', last: next }
    : { how: 'nothing', last: first }
}

/** Few rows, from floats to floats: normed, quantised, multiplied, scaled. Every weight is read once. */
function rowLinear(graph: Graph, quantise: Node): Phased | null {
  if (quantise.op !== 'quantise' || !isPlain(quantise) || quantise.inputs.length !== 2) return null
  const [x, scales] = quantise.inputs as [string, string]
  const scale = graph.maker(scales, 'rowScale')
  const { rows, width } = graph.shapes.get(x)!
  if (scale?.inputs.length !== 1 || rows > MOST_ROWS || width % 16 > 0 || rows * width > MOST_ROW_BYTES) return null
  const linears = graph.readers(out(quantise)).map((node) => linearOf(graph, node, scales))
  const [first, second] = linears
  if (!first || linears.length > 2 || linears.includes(null)) return null
  const found = linears as Linear[]
  const then = thenOf(
    graph,
    found.map(({ made }) => made),
  )
  if (!then) return null
  const norms = width > MOST_NORM ? null : normBefore(graph, x, [scale, quantise])
  const inner = [...(norms ?? []), scale, quantise, ...found.flatMap(({ product, made }) => [product, made])]
  const covers = then.how === 'nothing' ? inner : [...inner, then.last]
  if (![out(scale), out(quantise)].every((name) => graph.isInner(name, covers))) return null
  const norm = norms?.at(-1)
  const [from, , gain, , shift] = norm?.inputs ?? [x]
  const epsilon = norms?.find(({ op }) => op === 'normInverse')?.numbers.epsilon ?? bitsOf(0)
  const outputs = graph.shapes.get(out(first.made))!.width
  const other = then.how === 'add' ? then.last.inputs.find((name) => name !== out(first.made)) : undefined
  return {
    covers,
    ahead: found.map(({ weight }) => weight),
    phase: ({ at }) => {
      const or = (name: string | undefined) => (name === undefined ? NOBODY : at(name))
      const matrix = (of: Linear | null | undefined) => [or(of?.weight), or(of?.columns), or(of?.bias)]
      const rowsOf = [at(from!), or(gain), or(shift)]
      const places = [...rowsOf, ...matrix(first), ...matrix(second), or(other), at(out(then.last))]
      return { kind: 'linear', rows, heads: 0, places, words: [rows, width, outputs, THEN[then.how], epsilon] }
    },
  }
}

/** Heads cut from q, k and v side by side, turned or not, as rows of int8 with scales. */
interface HeadRows {
  readonly cut: Node
  readonly turned: Node | null
  readonly split: Node
  readonly scale: Node
  readonly quantise: Node
}

function headRows(graph: Graph, cut: Node, split: 'splitHeads' | 'reshape'): HeadRows | null {
  const turned = graph.reader(out(cut), 'rotary')
  const rows = graph.reader(out(turned ?? cut), split)
  const scale = rows && graph.reader(out(rows), 'rowScale')
  const quantise = rows && graph.reader(out(rows), 'quantise')
  if (!rows || !scale || !quantise || !isPlain(scale) || !isPlain(quantise)) return null
  const nodes = [cut, ...(turned ? [turned] : []), rows, scale, quantise]
  const areInner = [cut, turned, rows].every((node) => node === null || graph.isInner(out(node), nodes))
  return areInner && quantise.inputs[1] === out(scale) ? { cut, turned, split: rows, scale, quantise } : null
}

interface Parts {
  readonly q: HeadRows
  readonly k: HeadRows
  readonly v: HeadRows
  readonly nodes: readonly Node[]
  readonly size: number
  readonly heads: number
  readonly keyHeads: number
}

/** The three parts of a tensor, if that is what its readers make of it. */
function partsOf(graph: Graph, x: string, split: 'splitHeads' | 'reshape'): Parts | null {
  const cuts = graph.readers(x)
  if (cuts.length !== 3 || !cuts.every(({ op, numbers }) => op === 'cut' && numbers.width === numbers.columns))
    return null
  const inOrder = [...cuts].sort((a, b) => a.numbers.column! - b.numbers.column!)
  const [q, k, v] = inOrder.map((cut) => headRows(graph, cut, split))
  if (!q || !k || !v || v.turned || !q.turned !== !k.turned) return null
  const size = graph.shapes.get(out(q.split))!.width
  const [heads, keyHeads] = [q.cut.numbers.columns! / size, k.cut.numbers.columns! / size]
  const fits =
    q.cut.numbers.column === 0 &&
    k.cut.numbers.column === heads * size &&
    v.cut.numbers.column === (heads + keyHeads) * size &&
    v.cut.numbers.columns === keyHeads * size &&
    graph.shapes.get(x)!.width === (heads + 2 * keyHeads) * size &&
    size % 2 === 0 &&
    size <= MOST_HEAD
  const nodes = [q, k, v].flatMap(({ cut, turned, split: rows, scale, quantise }) => [
    ...[cut, ...(turned ? [turned] : [])],
    ...[rows, scale, quantise],
  ])
  return fits ? { q, k, v, nodes, size, heads, keyHeads } : null
}

const turnsOf = (at: FusedTools['at'], { turned }: HeadRows): bigint[] =>
  turned ? turned.inputs.slice(1).map(at) : [NOBODY, NOBODY]

/** From the sums of q, k and v to rows of one token and one head. */
function headSums(graph: Graph, made: Node): Fused | null {
  if (made.op !== 'dequantise' || made.numbers.hasColumns !== 1) return null
  if (made.numbers.factor !== undefined || made.numbers.rowsEach !== undefined) return null
  const parts = partsOf(graph, out(made), 'splitHeads')
  if (!parts || !graph.isInner(out(made), parts.nodes)) return null
  const { q, k, v, size, heads, keyHeads } = parts
  const { rows } = graph.shapes.get(out(made))!
  const { tokens } = q.split.numbers
  const [sums, rowScales, columns, bias] = made.inputs as [string, string, string, string?]
  return {
    covers: [made, ...parts.nodes],
    run: ({ launcher, at }) => {
      const given = [at(sums), at(rowScales), at(columns), bias === undefined ? NOBODY : at(bias), ...turnsOf(at, q)]
      const written = [q, k, v].flatMap(({ quantise, scale }) => [at(out(quantise)), at(out(scale))])
      const blocks = Math.ceil((rows * Math.ceil((heads + 2 * keyHeads) / HEADS_EACH)) / 8)
      launcher.launch('headSums', [blocks, 1], [...given, ...written, rows, tokens!, heads, keyHeads, size])
    },
  }
}

/** One place of a sequence: its key and value go into the cache where it lies, then its queries look at all of it. */
function attendPlace(graph: Graph, cut: Node): Phased | null {
  if (cut.op !== 'cut' || cut.numbers.column !== 0) return null
  const parts = partsOf(graph, cut.inputs[0]!, 'reshape')
  if (!parts || !CACHED_SIZES.includes(parts.size)) return null
  const { q, k, v, size, heads, keyHeads } = parts
  const puts = [k.quantise, k.scale, v.quantise, v.scale].map((node) => graph.reader(out(node), 'put'))
  const seen = puts.map((put) => (put ? graph.reader(out(put), 'cut') : null))
  const sums = graph.reader(out(q.quantise), 'product')
  const factor = graph.reader(out(q.scale), 'scale')
  const scores = sums && graph.reader(out(sums), 'dequantise')
  const maximum = scores && graph.reader(out(scores), 'rowMaximum')
  const weights = scores && graph.reader(out(scores), 'exponential')
  const [total, folded, rounded] = ['rowSum', 'rowScale', 'quantise'].map(
    (op) => weights && graph.reader(out(weights), op),
  )
  const product = rounded && graph.reader(out(rounded), 'productPieces')
  const turn = product && graph.maker(product.inputs[2], 'transpose')
  const made = product && graph.reader(out(product), 'divideRows')
  const joined = made && graph.reader(out(made), 'joinHeads')
  const chain = [sums, factor, scores, maximum, weights, total, folded, rounded, turn, product, made, joined]
  if ([...chain, ...puts, ...seen].some((node) => !node) || joined!.numbers.tokens !== 1) return null
  const count = seen[1]!.numbers.columns!
  const place = puts[0]!.numbers.column!
  const isWhole =
    count === place + 1 &&
    count <= MOST_SEEN &&
    puts.every((put) => put!.numbers.row === 0 && put!.numbers.column === place && graph.mayReuse(put!.inputs[0]!)) &&
    sums!.inputs[1] === out(seen[0]!) &&
    scores!.inputs[1] === out(factor!) &&
    scores!.inputs[2] === out(seen[1]!) &&
    turn!.inputs[0] === out(seen[2]!) &&
    folded!.inputs[1] === out(seen[3]!) &&
    made!.inputs[1] === out(total!) &&
    product!.numbers.piece === HEAD_PIECE &&
    !maximum!.numbers.period
  if (!isWhole) return null
  const covers = [...parts.nodes, ...(chain as Node[]), ...(puts as Node[]), ...(seen as Node[])]
  const areInner = covers.every((node) => node === joined || puts.includes(node) || graph.isInner(out(node), covers))
  if (!areInner) return null
  const places = graph.shapes.get(out(puts[1]!))!.width
  const sequences = graph.shapes.get(cut.inputs[0]!)!.rows
  return {
    covers,
    mostShift: MOST_SEEN - count,
    reuses: puts.map((put) => [put!.inputs[0]!, out(put!)] as const),
    ahead: [],
    phase: ({ at, shift }) => {
      const given = [at(cut.inputs[0]!), ...turnsOf(at, q), ...puts.map((put) => at(out(put!))), at(out(joined!))]
      const words = [sequences, heads, keyHeads, size, place + shift, places, factor!.numbers.factor!]
      return { kind: 'attend', rows: sequences, heads: sequences * keyHeads, places: given, words }
    },
  }
}

/** From the sums of gate and up to the bytes that go down. */
function siluSums(graph: Graph, quantise: Node): Fused | null {
  if (quantise.op !== 'quantise' || !isPlain(quantise) || quantise.inputs.length !== 2) return null
  const [x, scales] = quantise.inputs as [string, string]
  const scale = graph.maker(scales, 'rowScale')
  const silu = graph.maker(x, 'siluProduct')
  const made = silu?.inputs.map((name) => graph.maker(name, 'dequantise'))
  const [gate, up] = made ?? []
  if (!scale || !silu || !gate || !up || gate === up || !isPlain(scale)) return null
  const { rows, width } = graph.shapes.get(x)!
  const areScaled = [gate, up].every(
    ({ numbers, inputs }) => inputs.length === 3 && numbers.hasColumns === 1 && Object.keys(numbers).length === 1,
  )
  const covers = [gate, up, silu, scale, quantise]
  const areInner = [gate, up, silu].every((node) => graph.isInner(out(node), covers))
  if (!areScaled || !areInner || gate.inputs[1] !== up.inputs[1] || width % 4 > 0 || width > MOST_SILU) return null
  return {
    covers,
    run: ({ launcher, at }) => {
      const given = [gate.inputs[0]!, up.inputs[0]!, gate.inputs[1]!, gate.inputs[2]!, up.inputs[2]!]
      launcher.launch('siluSums', [rows, 1], [...[...given, scales, out(quantise)].map(at), rows, width], {
        threads: THREADS,
      })
    },
  }
}

/** Norm, scale and bytes of rows, where nobody asks for the statistics. */
function normRows(graph: Graph, quantise: Node): Fused | null {
  if (quantise.op !== 'quantise' || !isPlain(quantise) || quantise.inputs.length !== 2) return null
  const [x, scales] = quantise.inputs as [string, string]
  const scale = graph.maker(scales, 'rowScale')
  const norms = scale && isPlain(scale) ? normBefore(graph, x, [scale, quantise]) : null
  const { rows, width } = graph.shapes.get(x)!
  if (!scale || !norms || width % 4 > 0 || width > MOST_NORM_ROW) return null
  const [from, , gain, , shift] = norms.at(-1)!.inputs as [string, string, string, string?, string?]
  const epsilon = norms.find(({ op }) => op === 'normInverse')!.numbers.epsilon!
  return {
    covers: [...norms, scale, quantise],
    run: ({ launcher, at }) => {
      const given = [at(from), at(gain), shift === undefined ? NOBODY : at(shift), at(scales), at(out(quantise))]
      launcher.launch('normRows', [rows, 1], [...given, width, epsilon])
    },
  }
}

/** A piece of a state that is written where it lies. */
function putInPlace(graph: Graph, put: Node): Fused | null {
  const [base, piece] = put.inputs as [string, string]
  if (put.op !== 'put' || !graph.mayReuse(base)) return null
  const [whole, part] = [graph.shapes.get(base)!, graph.shapes.get(piece)!]
  const { row, column } = put.numbers as { row: number; column: number }
  const run = (rowBytes(part) * part.rows) / whole.rows
  const rows = whole.rows - row
  return {
    covers: [put],
    reuses: [[base, out(put)]],
    run: ({ launcher, at }) => {
      const [from, to] = [
        at(piece) + BigInt(row * run),
        at(out(put)) + BigInt(row * rowBytes(whole) + column * rowBytes(part)),
      ]
      const strides = [0n, 0n, BigInt(run), 0n, 0n, BigInt(rowBytes(whole))]
      launcher.overElements('move', (run * rows) / 16, [from, to, run, 1, 1, rows, ...strides])
    },
  }
}

/** Runs of steps that inference has; tried before all others, in this order. */
export const INFERENCE_MATCHES = [rowLinear, attendPlace, headSums, siluSums, normRows, putInPlace] as const
