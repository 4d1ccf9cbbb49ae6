import { bitsOf } from '../../../../core/work/ops/shapes.ts'
import type { Fused, FusedTools, Match } from './fused.ts'
import type { Graph, Node } from './graph.ts'

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

const drawOf = ({ numbers }: Node): number[] => [numbers.key0!, numbers.key1!, numbers.tensor!, numbers.transition!]

/** Rows in eights: blocks, threads, and the kernel for so many eights to a thread. */
function rowGrid(rows: number, width: number): { name: string; blocks: [number, number]; threads: number } {
  if (width <= SHORT) return { name: '1', blocks: [Math.ceil(rows / WARPS), 1], threads: THREADS }
  const threads = Math.min(THREADS, Math.ceil(width / 8 / 32) * 32)
  const each = Math.ceil(width / 8 / threads)
  return { name: String(each <= 2 ? each : 4), blocks: [rows, 1], threads }
}

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
  const made = before && quantiseMade(graph, before, scale, quantise)
  if (made) return made
  const grid = rowGrid(rows, width)
  const to = (at: FusedTools['at']) => [at(scales), at(out(quantise)), rows, width]
  const { rowsEach = rows } = quantise.numbers
  const isByChance = quantise.numbers.key0 !== undefined
  const kernel = `${isByChance ? 'scaleChance' : 'scaleQuantise'}${grid.name}`
  return {
    covers: [scale, quantise],
    run: ({ launcher, at }) => {
      const args = [
        at(x),
        fold === undefined ? NOBODY : at(fold),
        ...to(at),
        rowsEach,
        ...(isByChance ? drawOf(quantise) : []),
      ]
      launcher.launch(kernel, grid.blocks, args, { threads: grid.threads })
    },
  }
}

/** What is made and at once quantised, and read by nobody else. */
function quantiseMade(graph: Graph, before: Node, scale: Node, quantise: Node): Fused | null {
  if (before.op === 'norm') return normQuantise(graph, before, scale, quantise)
  if (before.op === 'splitHeads') return headQuantise(graph, before, scale, quantise)
  if (before.op !== 'gelu' && before.op !== 'siluProduct') return null
  const { rows, width } = sizeOf(graph, out(before))
  const { name, blocks, threads } = rowGrid(rows, width)
  const sums = before.op === 'gelu' ? onlyForGelu(graph, before.inputs[0]!) : null
  const kernel = `${sums ? 'sumsGelu' : before.op === 'gelu' ? 'gelu' : 'silu'}Quantise${name}`
  return {
    covers: [...(sums ? [sums.node] : []), before, scale, quantise],
    never: sums ? [out(sums.node)] : [],
    run: ({ launcher, at }) => {
      const given = sums ? sums.args(at) : before.inputs.map(at)
      launcher.launch(kernel, blocks, [...given, at(out(scale)), at(out(quantise)), rows, width], { threads })
    },
  }
}

/** Sums with their scales, as kernels take them. */
interface Dequantised {
  readonly node: Node
  args(at: FusedTools['at']): bigint[]
}

/** A dequantise with one vector of scales for all rows at most, and no factor. */
function plainDequantise(graph: Graph, name: string): Dequantised | null {
  const node = graph.maker(name, 'dequantise')
  if (!node || node.numbers.factor !== undefined || node.numbers.rowsEach !== undefined) return null
  const [sums, rowScales, ...more] = node.inputs as [string, string, ...string[]]
  const { hasColumns = 0, hasBias = 0 } = node.numbers
  const columns = hasColumns ? more[0]! : null
  const bias = hasBias ? more.at(-1)! : null
  const orNobody = (at: FusedTools['at'], of: string | null) => (of === null ? NOBODY : at(of))
  return { node, args: (at) => [at(sums), at(rowScales), orNobody(at, columns), orNobody(at, bias)] }
}

/** What only a GELU there and back reads is never made: each makes it again from its sums. */
function onlyForGelu(graph: Graph, up: string): Dequantised | null {
  const of = plainDequantise(graph, up)
  const readers = graph.readers(up)
  const back = readers.find(({ op }) => op === 'geluBackward')
  const fits =
    sizeOf(graph, up).width % 8 === 0 &&
    graph.isInner(up, readers) &&
    readers.every(({ op }) => op === 'gelu' || op === 'geluBackward') &&
    (!back || sumsOfGradient(graph, back) !== null)
  return of && fits ? of : null
}

function sumsOfGradient(graph: Graph, back: Node): Dequantised | null {
  const dy = back.inputs[1]!
  const of = plainDequantise(graph, dy)
  return of && !of.node.numbers.hasColumns && !of.node.numbers.hasBias && graph.isInner(dy, [back]) ? of : null
}

const geluBack: Match = (graph, back) => {
  if (back.op !== 'geluBackward') return null
  const [x, dy] = [onlyForGelu(graph, back.inputs[0]!), sumsOfGradient(graph, back)]
  if (!x || !dy) return null
  const { rows, width } = sizeOf(graph, out(back))
  return {
    covers: [dy.node, back],
    reads: x.node.inputs,
    never: [out(x.node)],
    run: ({ launcher, at }) => {
      const args = [...dy.args(at).slice(0, 2), ...x.args(at), at(out(back)), rows, width]
      launcher.overElements('sumsGeluBack', (rows * width) / 8, args)
    },
  }
}

/** Heads of up to so many numbers, a power of two, are quantised as they are split off. */
const WARP_NUMBERS = 256

function headQuantise(graph: Graph, split: Node, scale: Node, quantise: Node): Fused | null {
  const of = plainDequantise(graph, split.inputs[0]!)
  const { tokens = 0, size = 0 } = split.numbers
  const { rows, width } = sizeOf(graph, split.inputs[0]!)
  const fits = width % WARP_NUMBERS === 0 && WARP_NUMBERS % size === 0 && size % 8 === 0
  if (!of || !fits || !graph.isInner(out(of.node), [split])) return null
  return {
    covers: [of.node, split, scale, quantise],
    run: ({ launcher, at }) => {
      const args = [...of.args(at), at(out(scale)), at(out(quantise)), rows, width, tokens, size]
      launcher.launch('headQuantise', [Math.ceil((rows * width) / WARP_NUMBERS / WARPS), 1], args)
    },
  }
}

/** Rows that stay in the registers of a warp, four to a block: numbers to a lane; null where there is no such kernel. */
const lanesFor = (width: number): number | null => [24, 32, 64].find((lanes) => 32 * lanes === width) ?? null
const LANE_ROWS = 4
const LANE_THREADS = 128

function normQuantise(graph: Graph, norm: Node, scale: Node, quantise: Node): Fused | null {
  const [x, inverse, gain, mean, shift] = norm.inputs as [string, string, string, string?, string?]
  const inverses = graph.maker(inverse, 'normInverse')
  const means = mean === undefined ? null : graph.maker(mean, 'rowMean')
  if (!inverses || inverses.inputs[0] !== x || inverses.inputs[1] !== mean) return null
  if (mean !== undefined && means?.inputs[0] !== x) return null
  const { rows, width } = sizeOf(graph, x)
  const lanes = lanesFor(width)
  const blocks = lanes ? Math.ceil(rows / LANE_ROWS) : width > PIECE ? rows : Math.ceil(rows / WARPS)
  return {
    covers: [...(means ? [means] : []), inverses, norm, scale, quantise],
    // Written whether anybody reads them or not.
    writes: [inverse, ...(mean === undefined ? [] : [mean])],
    run: ({ launcher, at }) => {
      const given = [at(x), at(gain), shift === undefined ? NOBODY : at(shift)]
      const made = [mean === undefined ? NOBODY : at(mean), at(inverse), at(out(scale)), at(out(quantise))]
      const args = [...given, ...made, rows, width, inverses.numbers.epsilon!]
      launcher.launch(`normQuantise${lanes ?? ''}`, [blocks, 1], args, { threads: lanes ? LANE_THREADS : THREADS })
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

/** The gradient through a norm, and what it is added to. */
const normBackwardAdd: Match = (graph, node) => {
  const add = node.op === 'add' ? node : null
  const name = add?.inputs.find((input) => graph.maker(input, 'normBackward') && graph.isInner(input, [add]))
  const back = add ? graph.maker(name) : node.op === 'normBackward' ? node : null
  if (!back || (add && add.inputs[0] === add.inputs[1])) return null
  // With what it is added to, it comes later.
  if (!add && graph.reader(out(back), 'add') && graph.readers(out(back)).length === 1) return null
  const { rows, width } = sizeOf(graph, out(back))
  const lanes = lanesFor(width)
  if (!lanes) return null
  const other = add?.inputs.find((input) => input !== name)
  return {
    covers: add ? [back, add] : [back],
    run: ({ launcher, at }) => {
      const [x, inverse, gain, dy, mean] = back.inputs as [string, string, string, string, string?]
      const orNobody = (of: string | undefined) => (of === undefined ? NOBODY : at(of))
      const given = [at(x), orNobody(mean), at(inverse), at(gain), at(dy), orNobody(other)]
      const args = [...given, at(out(add ?? back)), rows, width]
      const blocks: [number, number] = [Math.ceil(rows / LANE_ROWS), 1]
      launcher.launch(`normBackwardAdd${lanes}`, blocks, args, { threads: LANE_THREADS })
    },
  }
}

/** Scale, bytes, norms and slopes of rows, and the ways back. */
export const ROW_MATCHES = { quantiseRows, normBackwardAdd, geluBack, dequantiseThen } as const
