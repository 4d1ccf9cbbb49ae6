import type { KernelArgument } from '../loadLibcuda.ts'
import type { Match } from './fused.ts'
import type { Graph, Node } from './graph.ts'

const PIECE = 4096
const WARPS = 8
const out = (node: Node): string => node.outputs[0]!
const sizeOf = (graph: Graph, name: string) => graph.shapes.get(name)!

/** The norm of all gradients: their squares in one launch, whatever their number. */
const gradientNorm: Match = (graph, norm) => {
  if (norm.op !== 'gradientNorm') return null
  const totals = norm.inputs.map((name) => graph.maker(name, 'rowSum'))
  const squares = totals.map((total) => graph.maker(total?.inputs[0], 'squareSums'))
  const inner = [...totals, ...squares].filter((node) => node !== null)
  const areAlone = inner.every((node) => graph.isInner(out(node), [...inner, norm]))
  if (inner.length < 2 * norm.inputs.length || new Set(inner).size < inner.length || !areAlone) return null
  return {
    covers: [...inner, norm],
    run: ({ launcher, products, at, table }) => {
      const entries = new BigUint64Array(3 * squares.length)
      let pieces = 0
      for (const [i, node] of squares.entries()) {
        const { rows, width } = sizeOf(graph, node!.inputs[0]!)
        entries.set([at(node!.inputs[0]!), BigInt(rows * width), BigInt(pieces)], 3 * i)
        pieces += Math.ceil((rows * width) / PIECE)
      }
      const there = table('squares', new Uint8Array(entries.buffer))
      const found = products.room('squares', 4 * (pieces + squares.length))
      const sums = found + BigInt(4 * pieces)
      launcher.launch('squaresOf', [Math.ceil(pieces / WARPS), 1], [there, squares.length, found, BigInt(pieces)])
      launcher.launch('squareTotals', [squares.length, 1], [there, found, sums])
      launcher.launch('gradientNorm', [1, 1], [sums, at(out(norm)), squares.length])
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
  return {
    covers: [first, second, weight],
    run: ({ launcher, at }) => {
      const { rate, epsilon, decay, correction1, correction2 } = weight.numbers
      const given = [w, first.inputs[0]!, second.inputs[0]!, first.inputs[1]!, first.inputs[2]!].map(at)
      const numbers = [first.numbers.beta1!, second.numbers.beta2!, rate!, epsilon!, decay!, correction1!, correction2!]
      const args: KernelArgument[] = [...given, at(out(weight)), at(m), at(v), count, ...numbers]
      launcher.overElements('adamW', count / 4, args)
    },
  }
}

/** From gradients to weights. */
export const OPTIMISER_MATCHES = { gradientNorm, adamW } as const
