import { bitsOf } from '../../../../core/work/ops/shapes.ts'
import type { KernelArgument } from '../loadLibcuda.ts'
import type { CardLauncher } from './cardKernels.ts'
import type { CardProducts } from './cardProducts.ts'
import type { Graph, Node } from './graph.ts'

/** What a fused kernel is queued with. */
export interface FusedTools {
  readonly launcher: CardLauncher
  readonly products: CardProducts
  /** Where a tensor lies. */
  at(name: string): bigint
}

/** Steps that one or a few kernels stand for. What they write and nobody else reads is never made. */
export interface Fused {
  readonly covers: readonly Node[]
  /** Tensors it reads that its steps do not, and such of its steps' that another fused run reads. */
  readonly reads?: readonly string[]
  readonly writes?: readonly string[]
  /** Between two fused runs, and made by neither. */
  readonly never?: readonly string[]
  run(tools: FusedTools): void
}

type Match = (graph: Graph, node: Node) => Fused | null

const THREADS = 256
const PIECE = 4096
const WARPS = THREADS / 32
/** Rows of so many numbers stay in the registers of a block; those of so few in a warp's. */
const MOST_WIDTH = 8192
const SHORT = 256
const NOBODY = 0n

const one = bitsOf(1)
const out = (node: Node): string => node.outputs[0]!
const sizeOf = (graph: Graph, name: string) => graph.shapes.get(name)!

/** Rows in eights: blocks, threads, and the kernel for so many eights to a thread. */
function rowGrid(rows: number, width: number): { name: string; blocks: [number, number]; threads: number } {
  if (width <= SHORT) return { name: '1', blocks: [Math.ceil(rows / WARPS), 1], threads: THREADS }
  const threads = Math.min(THREADS, Math.ceil(width / 8 / 32) * 32)
  const each = Math.ceil(width / 8 / threads)
  return { name: String(each <= 2 ? each : 4), blocks: [rows, 1], threads }
}

const drawOf = ({ numbers }: Node): number[] => [numbers.key0!, numbers.key1!, numbers.tensor!, numbers.transition!]

/** Scale and bytes of rows: of a norm, of an activation, or of what is there. */
const quantiseRows: Match = (graph, quantise) => {
  if (quantise.op !== 'quantise' || quantise.numbers.piece !== undefined) return null
  const [x, scales, fold] = quantise.inputs as [string, string, string?]
  const scale = graph.maker(scales, 'rowScale')
  if (!scale || scale.inputs[0] !== x || scale.inputs[1] !== fold) return null
  const { rows, width } = sizeOf(graph, x)
  if (width % 8 > 0 || width > MOST_WIDTH) return null
  const isPlain = fold === undefined && quantise.numbers.key0 === undefined
  const before = isPlain && graph.isInner(x, [scale, quantise]) ? graph.maker(x) : null
  if (before?.op === 'norm') return normQuantise(graph, before, scale, quantise)
  const grid = rowGrid(rows, width)
  const to = (at: FusedTools['at']) => [at(scales), at(out(quantise)), rows, width]
  if (before?.op === 'gelu' || before?.op === 'siluProduct') {
    const kernel = `${before.op === 'gelu' ? 'gelu' : 'silu'}Quantise${grid.name}`
    return {
      covers: [before, scale, quantise],
      run: ({ launcher, at }) =>
        launcher.launch(kernel, grid.blocks, [...before.inputs.map(at), ...to(at)], { threads: grid.threads }),
    }
  }
  const { rowsEach = rows } = quantise.numbers
  const draw = quantise.numbers.key0 === undefined ? [] : drawOf(quantise)
  const kernel = `${draw.length > 0 ? 'scaleChance' : 'scaleQuantise'}${grid.name}`
  return {
    covers: [scale, quantise],
    run: ({ launcher, at }) => {
      const args = [at(x), fold === undefined ? NOBODY : at(fold), ...to(at), rowsEach, ...draw]
      launcher.launch(kernel, grid.blocks, args, { threads: grid.threads })
    },
  }
}

function normQuantise(graph: Graph, norm: Node, scale: Node, quantise: Node): Fused | null {
  const [x, inverse, gain, mean, shift] = norm.inputs as [string, string, string, string?, string?]
  const inverses = graph.maker(inverse, 'normInverse')
  const means = mean === undefined ? null : graph.maker(mean, 'rowMean')
  if (!inverses || inverses.inputs[0] !== x || inverses.inputs[1] !== mean) return null
  if (mean !== undefined && means?.inputs[0] !== x) return null
  const { rows, width } = sizeOf(graph, x)
  const blocks = width > PIECE ? rows : Math.ceil(rows / WARPS)
  return {
    covers: [...(means ? [means] : []), inverses, norm, scale, quantise],
    run: ({ launcher, at }) => {
      const given = [at(x), at(gain), shift === undefined ? NOBODY : at(shift)]
      const made = [mean === undefined ? NOBODY : at(mean), at(inverse), at(out(scale)), at(out(quantise))]
      launcher.launch('normQuantise', [blocks, 1], [...given, ...made, rows, width, inverses.numbers.epsilon!])
    },
  }
}

/** Dequantised, then added to something or taken times a slope. */
const dequantiseThen: Match = (graph, node) => {
  if (node.op !== 'add' && node.op !== 'geluBackward') return null
  const candidates = node.op === 'add' ? node.inputs : node.inputs.slice(1)
  const found = candidates
    .flatMap((name) => graph.maker(name, 'dequantise') ?? [])
    .filter((maker) => graph.isInner(out(maker), [node]))
    .sort((a, b) => b.at - a.at)[0]
  if (!found || node.inputs[0] === node.inputs[1]) return null
  const other = node.inputs.find((name) => name !== out(found))!
  const [sums, rowScales, ...more] = found.inputs as [string, string, ...string[]]
  const { rows, width } = sizeOf(graph, sums)
  const { hasColumns = 0, hasBias = 0, rowsEach = rows, factor = one } = found.numbers
  if (width % 4 > 0) return null
  return {
    covers: [found, node],
    run: ({ launcher, at }) => {
      const scales = [hasColumns ? at(more[0]!) : NOBODY, hasBias ? at(more.at(-1)!) : NOBODY]
      const args = [at(sums), at(rowScales), ...scales, at(other), at(out(node)), rows, width, rowsEach, factor]
      launcher.overElements(node.op === 'add' ? 'dequantiseAdd' : 'dequantiseGeluBack', (rows * width) / 4, args)
    },
  }
}

/** A column is 32 to a block, a piece of rows one row of blocks. */
const columnGrid = (rows: number, width: number): [number, number] => [Math.ceil(width / 32), Math.ceil(rows / PIECE)]
const COLUMN_THREADS = 1024

function columnTotals({ launcher, at }: FusedTools, pieces: bigint, to: string, rows: number, width: number): void {
  launcher.launch('columnTotals', [Math.ceil(width / WARPS), 1], [pieces, at(to), width, Math.ceil(rows / PIECE)])
}

/** Sums of columns by way of a turned copy; with the terms of a norm's gain, these too are never written. */
const columnSums: Match = (graph, turn) => {
  if (turn.op !== 'transpose' || turn.numbers.batch !== undefined) return null
  const sum = graph.reader(out(turn), 'rowSum')
  if (!sum || !graph.isInner(out(turn), [sum])) return null
  const x = turn.inputs[0]!
  const { rows, width, type } = sizeOf(graph, x)
  if (type !== 'f32') return null
  const terms = graph.isInner(x, [turn]) ? graph.maker(x, 'normGainTerms') : null
  return {
    covers: [...(terms ? [terms] : []), turn, sum],
    run: (tools) => {
      const { launcher, products, at } = tools
      const pieces = products.room('pieces', 4 * width * Math.ceil(rows / PIECE))
      const grid = columnGrid(rows, width)
      if (terms) {
        const [of, inverse, dy, mean] = terms.inputs as [string, string, string, string?]
        const args = [at(of), mean === undefined ? NOBODY : at(mean), at(inverse), at(dy), pieces, rows, width]
        launcher.launch('normGainPieces', grid, args, { threads: COLUMN_THREADS })
      } else launcher.launch('columnPieces', grid, [at(x), pieces, rows, width], { threads: COLUMN_THREADS })
      columnTotals(tools, pieces, out(sum), rows, width)
    },
  }
}

/** The turned of a gradient rounded by chance, its scales, and its bias's gradient: no turned copy of floats. */
const turnChance: Match = (graph, turn) => {
  if (turn.op !== 'transpose' || turn.numbers.batch !== undefined) return null
  const scale = graph.reader(out(turn), 'rowScale')
  const quantise = graph.reader(out(turn), 'quantise')
  const sum = graph.reader(out(turn), 'rowSum')
  const readers = [scale, quantise, sum].filter((node) => node !== null)
  if (!scale || !quantise || !graph.isInner(out(turn), readers)) return null
  const fold = scale.inputs[1]
  const x = turn.inputs[0]!
  const { rows, width } = sizeOf(graph, x)
  const { piece = rows, key0, rowsEach } = quantise.numbers
  const fits = quantise.inputs[1] === out(scale) && quantise.inputs[2] === fold && key0 !== undefined
  if (!fits || rowsEach !== undefined || rows % 64 > 0 || (piece < rows && piece % PIECE > 0)) return null
  const count = width * Math.ceil(rows / piece)
  return {
    covers: [turn, ...readers],
    run: (tools) => {
      const { launcher, products, at } = tools
      const pieces = products.room('pieces', 4 * width * Math.ceil(rows / PIECE))
      const largest = products.zeros(4 * count)
      const folded = fold === undefined ? NOBODY : at(fold)
      const found = [at(x), folded, pieces, largest, rows, width, piece]
      launcher.launch('columnLargest', columnGrid(rows, width), found, { threads: COLUMN_THREADS })
      launcher.overElements('takeScales', count, [largest, at(out(scale)), count])
      if (sum) columnTotals(tools, pieces, out(sum), rows, width)
      const blocks = (rows / 64) * Math.ceil(width / 32)
      const args = [at(x), folded, at(out(scale)), at(out(quantise)), rows, width, piece, ...drawOf(quantise)]
      launcher.launch('turnChance', [blocks, 1], args)
    },
  }
}

/** Both moments and the weight of AdamW at once. */
const adamW: Match = (graph, weight) => {
  if (weight.op !== 'adamWWeight') return null
  const [w, m, v] = weight.inputs as [string, string, string]
  const [first, second] = [graph.maker(m, 'adamWFirst'), graph.maker(v, 'adamWSecond')]
  if (!first || !second || first.inputs[1] !== second.inputs[1] || first.inputs[2] !== second.inputs[2]) return null
  const { rows, width } = sizeOf(graph, w)
  const count = rows * width
  if (count % 4 > 0) return null
  const { rate, epsilon, decay, correction1, correction2 } = weight.numbers
  return {
    covers: [first, second, weight],
    run: ({ launcher, at }) => {
      const given = [w, first.inputs[0]!, second.inputs[0]!, first.inputs[1]!, first.inputs[2]!].map(at)
      const numbers = [first.numbers.beta1!, second.numbers.beta2!, rate!, epsilon!, decay!, correction1!, correction2!]
      const args: KernelArgument[] = [...given, at(out(weight)), at(m), at(v), count, ...numbers]
      launcher.overElements('adamW', count / 4, args)
    },
  }
}

/** In the order they are tried: what covers more comes first. */
export const MATCHES: readonly Match[] = [quantiseRows, turnChance, columnSums, dequantiseThen, adamW]
