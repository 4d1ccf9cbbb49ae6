import type { Op, OpCall, Place, ShapedStep } from './op.ts'
import { lastUses, type Ops, type ShapedProgram } from './program.ts'
import { requireThat, WorkRefusal } from './refusals.ts'
import { type TensorShape, tensorBytes } from './tensor.ts'

/** Kernels, and the memory they work on from `start` on. */
export interface WorkEngine<K> {
  readonly kernels: K
  readonly start: number
  /** Bytes of the memory as it is now: memory may move when it grows. */
  view(at: number, bytes: number): Uint8Array
  /** Makes sure that the memory reaches that far; throws a RangeError where it cannot. */
  reserve(end: number): void
}

const ALIGNMENT = 64
const aligned = (bytes: number): number => Math.ceil(bytes / ALIGNMENT) * ALIGNMENT

/** No tensor is called so. */
const SCRATCH = ''

interface Gap {
  readonly at: number
  readonly bytes: number
}

/** Tensors in the memory of an engine, by name. First fit: a transition makes and frees the same sizes over and over. */
export class TensorMemory<K> {
  readonly #engine: WorkEngine<K>
  readonly #places = new Map<string, Place>()
  readonly #settled = new Map<string, number>()
  #gaps: Gap[] = []
  #end: number

  constructor(engine: WorkEngine<K>) {
    this.#engine = engine
    this.#end = aligned(engine.start)
  }

  has = (name: string): boolean => this.#places.has(name)

  /** Whether what another engine points at is what this memory holds. */
  isOn({ view }: Pick<WorkEngine<unknown>, 'view'>): boolean {
    const [own, other] = [this.#engine.view(0, 0), view(0, 0)]
    return own.buffer === other.buffer && own.byteOffset === other.byteOffset
  }

  /** A tensor of this name will be made there, and what it leaves behind stays: the place is another's. */
  settle(name: string, at: number): void {
    this.#settled.set(name, at)
  }

  /** Zeros, or whatever lay there before: every op writes the whole of its output. */
  make(name: string, shape: TensorShape): Place {
    if (this.has(name)) throw new RangeError(`${name} is there already`)
    const place = { at: this.#settled.get(name) ?? this.#find(aligned(tensorBytes(shape))), shape }
    this.#places.set(name, place)
    return place
  }

  #find(bytes: number): number {
    const found = this.#gaps.findIndex((gap) => gap.bytes >= bytes)
    if (found < 0) {
      const at = this.#end
      this.#engine.reserve(at + bytes)
      this.#end += bytes
      return at
    }
    const { at, bytes: free } = this.#gaps[found]!
    this.#gaps.splice(found, 1, ...(free > bytes ? [{ at: at + bytes, bytes: free - bytes }] : []))
    return at
  }

  free(name: string): void {
    const { at, shape } = this.place(name)
    this.#places.delete(name)
    if (this.#settled.delete(name)) return
    const merged: Gap[] = []
    const gaps = [...this.#gaps, { at, bytes: aligned(tensorBytes(shape)) }].sort((a, b) => a.at - b.at)
    for (const gap of gaps) {
      const last = merged.at(-1)
      if (last && last.at + last.bytes === gap.at) merged.splice(-1, 1, { at: last.at, bytes: last.bytes + gap.bytes })
      else merged.push(gap)
    }
    this.#gaps = merged
  }

  rename(from: string, to: string): void {
    const place = this.place(from)
    this.#places.delete(from)
    this.#places.set(to, place)
  }

  place(name: string): Place {
    const place = this.#places.get(name)
    if (!place) throw new RangeError(`${name} is not there`)
    return place
  }

  bytes(name: string): Uint8Array {
    const { at, shape } = this.place(name)
    return this.#engine.view(at, tensorBytes(shape))
  }

  /** One op over places of this memory, with the scratch it asks for. */
  run(op: Op<K>, step: ShapedStep, call: Omit<OpCall, 'scratch'>): number {
    const bytes = op.scratchBytes?.(step) ?? 0
    if (bytes === 0) return op.run(this.#engine.kernels, { ...call, scratch: 0 })
    const scratch = this.make(SCRATCH, { type: 'u8', rows: 1, width: bytes }).at
    this.#engine.view(scratch, bytes).fill(0)
    const fault = op.run(this.#engine.kernels, { ...call, scratch })
    this.free(SCRATCH)
    return fault
  }

  write(name: string, shape: TensorShape, bytes: Uint8Array): void {
    requireThat(bytes.length === tensorBytes(shape), 'BAD_INPUT', `${name} has ${bytes.length} bytes`)
    this.#engine.view(this.make(name, shape).at, bytes.length).set(bytes)
  }
}

/** Called when a step is done, while its outputs are there. */
export type OnStep = (step: number, outputs: readonly string[]) => void

/** Runs a program over tensors that are there. Afterwards the next state and the figures are there too, nothing else new. */
export function runProgram<K>(
  ops: Ops<K>,
  memory: TensorMemory<K>,
  program: ShapedProgram,
  onStep: OnStep = () => {},
): void {
  const free = lastUses(program)
  for (const [at, { op, inputs, outputs, numbers }] of program.steps.entries()) {
    const step = program.shaped[at]!
    const places = outputs.map((name, i) => memory.make(name, step.outputs[i]!))
    const call = { inputs: inputs.map((name) => memory.place(name)), outputs: places, numbers }
    if (memory.run(ops[op]!, step, call) !== 0)
      throw new WorkRefusal('FAULT', `step ${at} (${op}) wrote a number that is none`)
    onStep(at, outputs)
    for (const name of free[at]!) memory.free(name)
  }
}
