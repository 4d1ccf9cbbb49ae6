import type { Numbers } from './op.ts'
import type { Needed, Program, Step } from './program.ts'
import type { TensorShape } from './tensor.ts'

/** Writes a program step by step. Names of tensors follow from where they are made, so that everybody makes the same. */
export class ProgramBuilder {
  readonly #there = new Map<string, TensorShape>()
  readonly #steps: Step[] = []
  readonly #names = new Map<string, number>()
  /** Steps from here on belong to this shard; null: to none. */
  shard: number | null = null
  #needed: Needed | null = null

  /** A tensor that is there before the first step. */
  there(name: string, shape: TensorShape): string {
    this.#there.set(name, shape)
    return name
  }

  /** Of a tensor that is there before the first step. */
  shapeOf(name: string): TensorShape {
    const shape = this.#there.get(name)
    if (!shape) throw new RangeError(`${name} is not there`)
    return shape
  }

  /** One step; the answer is the name of what it writes. */
  step(op: string, inputs: readonly string[], numbers: Numbers = {}, { isChoke = false, name = op } = {}): string {
    const count = (this.#names.get(name) ?? 0) + 1
    this.#names.set(name, count)
    const output = `${name}#${count}`
    const marks = {
      ...(isChoke ? { isChoke } : {}),
      ...(this.shard === null ? {} : { shard: this.shard }),
      ...(this.#needed === null ? {} : { needed: this.#needed }),
    }
    this.#steps.push({ op, inputs, outputs: [output], numbers, ...marks })
    return output
  }

  /** Of the steps that are written meanwhile a state depends on so much alone (W4.5); null: on all of it. */
  needed<T>(needed: Needed | null, write: () => T): T {
    const before = this.#needed
    this.#needed = needed
    const written = write()
    this.#needed = before
    return written
  }

  /** A number of its own for each rounded tensor, in the order they are made. */
  nextTensor = (() => {
    let next = 0
    return () => next++
  })()

  build(after: readonly string[], statistics: readonly string[] = []): Program {
    return { there: this.#there, steps: this.#steps, after, statistics }
  }
}
