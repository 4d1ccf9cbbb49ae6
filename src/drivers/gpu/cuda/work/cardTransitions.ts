import { words32 } from '../../../../core/bytes/bytes.ts'
import { HASH_BYTES } from '../../../../core/proof/merkle.ts'
import type { ShapedProgram } from '../../../../core/work/program.ts'
import { WorkRefusal } from '../../../../core/work/refusals.ts'
import { rowBytes } from '../../../../core/work/tensor.ts'
import type { Work } from '../../../../core/work/work.ts'
import type { WorkKernels } from '../../../../core/work/workKernels.ts'
import type { Handle } from '../loadLibcuda.ts'
import type { WorkCard } from './card.ts'
import { type Action, planAgain, planProgram } from './plan.ts'
import { moved, type Plan } from './series.ts'

const FAULTS = '\0faults'
const ROOTS = '\0roots'
/** More than the transitions of a segment, and one. */
const MOST_QUEUED = 1024

type AfterStep = (step: number, outputs: readonly string[]) => Promise<void> | void

/** A transition that is queued: the names under which its faults and figures will lie. */
export interface Queued {
  readonly program: ShapedProgram
  readonly faults: string
  readonly statistics: readonly string[]
  /** Of a state that is committed: where its roots will lie, and when they are made. */
  readonly roots: { readonly at: string; readonly event: Handle } | null
}

/** Transitions of a work on one card: queued and ended later, or walked step by step. */
export class CardTransitions {
  readonly #card: WorkCard
  readonly #work: Work<WorkKernels>
  #queuedSoFar = 0

  constructor(card: WorkCard, work: Work<WorkKernels>) {
    this.#card = card
    this.#work = work
  }

  /** One transition, every step alone, for whoever looks at them. */
  async walk(program: ShapedProgram, afterStep: AfterStep): Promise<void> {
    const { queued, faults } = this.#begin(program)
    const plan = { program, actions: planProgram(program, false), rates: null, shift: 0 }
    for (const action of plan.actions) {
      this.#start(plan, action, faults)
      await afterStep(action.nodes[0]!.at, action.outputs)
      for (const name of action.free) this.#card.memory.free(name)
    }
    await this.end(this.#named(queued))
  }

  /** One transition, or a part of one, queued; a state that is committed is hashed as it is made. */
  queue(plan: Plan, isCommitted = false): Queued {
    const { program } = plan
    const { queued, faults } = this.#begin(program)
    const roots = isCommitted ? this.#rootsOfState(program, queued.faults) : null
    for (const action of plan.rates ? plan.actions : planAgain(plan.actions, program)) {
      this.#start(plan, action, faults)
      roots?.asMade.made(action.outputs)
      for (const name of action.free) this.#card.memory.free(name)
    }
    const named = this.#named(queued)
    return { ...named, roots: roots && { at: roots.at, event: roots.asMade.end() } }
  }

  /** Beside a bare product both are slower than in turns. */
  #rootsOfState({ after, steps }: ShapedProgram, label: string) {
    const at = `${ROOTS} ${label}`
    const place = this.#card.memory.make(at, { type: 'u8', rows: Math.max(1, after.length), width: HASH_BYTES })
    const isBareProduct = steps.every(({ op }) => op === 'product')
    return { at, asMade: this.#card.rootsAsMade(after, place.at, !isBareProduct) }
  }

  #begin(program: ShapedProgram): { readonly queued: Queued; readonly faults: number } {
    const name = `${FAULTS}${this.#queuedSoFar++ % MOST_QUEUED}`
    const { at } = this.#card.zeros(name, Math.max(1, program.steps.length))
    return { queued: { program, faults: name, statistics: [], roots: null }, faults: at }
  }

  /** Its figures under names that the next transition does not use. */
  #named({ program, faults }: Queued): Queued {
    const { memory } = this.#card
    const statistics = program.statistics.map((name, i) => {
      const other = `${faults} ${i}`
      memory.share(other, name, memory.place(name).shape)
      if (!program.after.includes(name)) memory.free(name)
      return other
    })
    return { program, faults, statistics, roots: null }
  }

  #start({ program, rates, shift }: Plan, { nodes, fused, outputs }: Action, faults: number): void {
    const { memory } = this.#card
    this.#reuse(fused?.reuses ?? [])
    const { at, op, inputs, numbers, shaped } = nodes.at(-1)!
    if (op === 'reshape') {
      memory.share(outputs[0]!, inputs[0]!, program.shapes.get(outputs[0]!)!)
      return
    }
    const places = outputs.map((name) => memory.make(name, program.shapes.get(name)!))
    this.#card.faultsAt(BigInt(faults + 4 * at))
    if (fused) this.#card.fused(fused, shift, (node) => BigInt(faults + 4 * node.at))
    else {
      const now = rates ? moved(numbers, rates[at]!, shift) : numbers
      const call = { inputs: inputs.map((name) => memory.place(name)), outputs: places, numbers: now }
      this.#card.step(this.#work.ops, op, shaped, call)
    }
  }

  /** Tensors that are written where they lie; what has another name, and may still be hashed, is copied first. */
  #reuse(reuses: readonly (readonly [from: string, to: string])[]): void {
    const { memory, kernels } = this.#card
    for (const [from, to] of reuses) {
      if (!memory.isShared(from)) {
        memory.rename(from, to)
        continue
      }
      const { at, shape } = memory.place(from)
      const bytes = rowBytes(shape)
      kernels.move(at, memory.make(to, shape).at, bytes, 1, 1, shape.rows, 0, 0, bytes, 0, 0, bytes)
    }
  }

  /** The next state takes the names of the one before. */
  rename(program: ShapedProgram): void {
    const { memory } = this.#card
    const names = [...this.#work.state.keys()]
    for (const name of names) if (memory.has(name) && !program.after.includes(name)) memory.free(name)
    for (const [i, name] of program.after.entries()) if (name !== names[i]) memory.rename(name, names[i]!)
  }

  async end(queued: Queued): Promise<void> {
    this.rename(queued.program)
    await this.#card.settle()
    this.finish(queued)
  }

  /** A transition that is done: its figures, or what it ended with. */
  finish({ program, faults, statistics }: Queued): readonly number[] {
    const { memory } = this.#card
    const take = (name: string): Uint8Array => {
      const bytes = this.#card.take(memory.place(name))
      memory.free(name)
      return bytes
    }
    const words = take(faults)
    const bits = statistics.flatMap((name) => [...words32(take(name))])
    this.#refuseFaults(program, words)
    return bits
  }

  #refuseFaults(program: ShapedProgram, words: Uint8Array): void {
    const at = new Uint32Array(words.buffer, words.byteOffset, words.length / 4).findIndex((word) => word !== 0)
    if (at >= 0) throw new WorkRefusal('FAULT', `step ${at} (${program.steps[at]!.op}) wrote a number that is none`)
  }
}
