import type { Numbers, ShapedStep } from '../../../../core/work/op.ts'
import type { ShapedProgram, Step } from '../../../../core/work/program.ts'
import type { TensorShape } from '../../../../core/work/tensor.ts'

/** A step by its number, with its shapes. */
export interface Node extends Omit<Step, 'numbers'> {
  readonly at: number
  /** Those of the transition that is run: a plan serves many. */
  numbers: Numbers
  shaped: ShapedStep
}

/** Who makes and who reads each tensor of a program. */
export class Graph {
  readonly nodes: readonly Node[]
  readonly shapes: ReadonlyMap<string, TensorShape>
  readonly #makers = new Map<string, Node>()
  readonly #readers = new Map<string, Node[]>()
  readonly #kept: ReadonlySet<string>
  readonly #states: ReadonlySet<string>

  /** `states`: what is there before the first step, and of no use after the last. */
  constructor({ steps, shaped, shapes, after, statistics }: ShapedProgram, states: ReadonlySet<string> = new Set()) {
    this.shapes = shapes
    this.#states = states
    this.#kept = new Set([...after, ...statistics])
    this.nodes = steps.map((step, at) => ({ ...step, at, shaped: shaped[at]! }))
    for (const node of this.nodes) {
      for (const name of node.outputs) this.#makers.set(name, node)
      for (const name of new Set(node.inputs)) {
        const known = this.#readers.get(name)
        if (known) known.push(node)
        else this.#readers.set(name, [node])
      }
    }
  }

  /** The step that makes a tensor, if it is of that op. */
  maker(name: string | undefined, op?: string): Node | null {
    const node = name === undefined ? undefined : this.#makers.get(name)
    return node && (op === undefined || node.op === op) ? node : null
  }

  readers = (name: string): readonly Node[] => this.#readers.get(name) ?? []

  /** The only step of that op that reads a tensor. */
  reader(name: string | undefined, op: string): Node | null {
    if (name === undefined) return null
    const found = this.readers(name).filter((node) => node.op === op)
    return found.length === 1 ? found[0]! : null
  }

  /** A state whose only reader may write where it lies. */
  mayReuse = (name: string): boolean =>
    this.#states.has(name) && !this.#kept.has(name) && this.readers(name).length === 1

  /** Nobody but these steps asks for the tensor. */
  isInner(name: string, among: readonly Node[]): boolean {
    return !this.#kept.has(name) && this.readers(name).every((node) => among.includes(node))
  }
}
