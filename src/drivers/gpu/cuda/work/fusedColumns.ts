import type { FusedTools, Match } from './fused.ts'
import type { Graph, Node } from './graph.ts'

const PIECE = 4096
const NOBODY = 0n
const out = (node: Node): string => node.outputs[0]!
const sizeOf = (graph: Graph, name: string) => graph.shapes.get(name)!

const drawOf = ({ numbers }: Node): number[] => [numbers.key0!, numbers.key1!, numbers.tensor!, numbers.transition!]

/** A block has 128 columns of eight of the 32 partial sums of a piece. */
const columnGrid = (rows: number, width: number): [number, number] => [
  Math.ceil(width / 128),
  4 * Math.ceil(rows / PIECE),
]
/** Pieces whose sums are summed at once. */
const MOST_PIECES = 32
const haveParts = (rows: number, width: number): boolean => width % 4 === 0 && rows <= MOST_PIECES * PIECE
const partsBytes = (rows: number, width: number): number => 4 * 32 * width * Math.ceil(rows / PIECE)

function columnTotals({ launcher, at }: FusedTools, parts: bigint, to: string, rows: number, width: number): void {
  launcher.launch('columnTotals', [Math.ceil(width / 32), 1], [parts, at(to), width, Math.ceil(rows / PIECE)])
}

/** The sum of the columns of x by way of a turned copy that nobody else reads. */
function columnSumOf(graph: Graph, x: string): { readonly nodes: readonly [Node, Node]; readonly to: string } | null {
  for (const turn of graph.readers(x)) {
    const sum = turn.op === 'transpose' ? graph.reader(out(turn), 'rowSum') : null
    if (sum && graph.isInner(out(turn), [sum])) return { nodes: [turn, sum], to: out(sum) }
  }
  return null
}

/** Sums of columns by way of a turned copy. */
const columnSums: Match = (graph, turn) => {
  if (turn.op !== 'transpose' || turn.numbers.batch !== undefined) return null
  const x = turn.inputs[0]!
  const sum = columnSumOf(graph, x)
  const { rows, width, type } = sizeOf(graph, x)
  if (sum?.nodes[0] !== turn || type !== 'f32' || !haveParts(rows, width)) return null
  return {
    covers: sum.nodes,
    run: (tools) => {
      const parts = tools.products.room('parts', partsBytes(rows, width))
      tools.launcher.launch('columnParts', columnGrid(rows, width), [tools.at(x), parts, rows, width])
      columnTotals(tools, parts, sum.to, rows, width)
    },
  }
}

/** Gradients of a norm's gain and shift: terms are never written, nor anything turned. */
const normGain: Match = (graph, terms) => {
  if (terms.op !== 'normGainTerms') return null
  const [x, inverse, dy, mean] = terms.inputs as [string, string, string, string?]
  const [gain, shift] = [columnSumOf(graph, out(terms)), columnSumOf(graph, dy)]
  const { rows, width } = sizeOf(graph, x)
  if (!gain || !graph.isInner(out(terms), gain.nodes) || !haveParts(rows, width)) return null
  return {
    covers: [terms, ...gain.nodes, ...(shift?.nodes ?? [])],
    run: (tools) => {
      const { launcher, products, at } = tools
      const parts = products.room('parts', 2 * partsBytes(rows, width))
      const shifts = parts + BigInt(partsBytes(rows, width))
      const given = [at(x), mean === undefined ? NOBODY : at(mean), at(inverse), at(dy)]
      launcher.launch('normGainParts', columnGrid(rows, width), [...given, parts, shifts, rows, width])
      columnTotals(tools, parts, gain.to, rows, width)
      if (shift) columnTotals(tools, shifts, shift.to, rows, width)
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
  if (!fits || rowsEach !== undefined || rows % 128 > 0 || (piece < rows && piece % PIECE > 0)) return null
  if (!haveParts(rows, width)) return null
  const count = width * Math.ceil(rows / piece)
  return {
    covers: [turn, ...readers],
    run: (tools) => {
      const { launcher, products, at } = tools
      const parts = products.room('parts', partsBytes(rows, width))
      const largest = products.zeros(4 * count)
      const folded = fold === undefined ? NOBODY : at(fold)
      const found = [at(x), folded, parts, largest, rows, width, piece]
      launcher.launch('columnLargest', columnGrid(rows, width), found)
      launcher.overElements('takeScales', count, [largest, at(out(scale)), count])
      if (sum) columnTotals(tools, parts, out(sum), rows, width)
      const blocks = (rows / 128) * Math.ceil(width / 64)
      const args = [at(x), folded, at(out(scale)), at(out(quantise)), rows, width, piece, ...drawOf(quantise)]
      launcher.launch('turnChance', [blocks, 1], args)
    },
  }
}

/** What goes down the columns of gradients. */
export const COLUMN_MATCHES = { turnChance, normGain, columnSums } as const
