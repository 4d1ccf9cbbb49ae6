import type * as z from 'zod'
import type { Counted, Program } from './program.ts'
import type { TensorShape } from './tensor.ts'

/** Products of a card that a work may be made of, as Proof of GPU calls them. */
/** Paths are no products: no speed of a certificate bounds them (attack 434). */
export type Unit = 'int8' | 'fp32' | 'paths'

/** What a program may depend on, besides the parameters. */
export interface Turn {
  /** The transition it makes: the first is 1. */
  readonly transition: number
  /** Its state is committed: the figures of the last transition of a segment are the only ones that anybody sees. */
  readonly isCommitted: boolean
  readonly seed: Uint8Array
}

/**
 * A kind of work. Everything that is particular to it is here and in its ops; whoever executes, commits, draws, checks or
 * disputes asks this and knows no kind by name.
 */
export interface Kind<P> {
  readonly name: string
  /** Strict, with its limits: what passes is small enough to be run. */
  readonly parameters: z.ZodType<P>
  /** Its transitions do not build on each other: 128 patches over all of them, instead of whole segments. */
  readonly isIndependent: boolean
  /** The largest interval between committed states. */
  readonly maxInterval: number
  /** Throws a WorkRefusal where so many transitions are not what the parameters call for. */
  requireTransitions(parameters: P, transitions: number): void
  /** Tensors that are handed in, by name. */
  given(parameters: P): ReadonlyMap<string, TensorShape>
  /** Throws a WorkRefusal where what is handed in, of the right root, is nothing to work with. */
  requireGiven?(given: ReadonlyMap<string, Uint8Array>, parameters: P): void
  /** The state, in the order of its root. */
  state(parameters: P): ReadonlyMap<string, TensorShape>
  /** From what is given to the state that everybody begins with. No state: no steps. */
  begin(parameters: P, seed: Uint8Array): Program
  transition(parameters: P, turn: Turn): Program
  /**
   * The first of those transitions in a row up to this one whose programs are the same but for numbers that move on by as
   * much each time. Without it, every program is taken for another.
   */
  alike?(parameters: P, transition: number): number
  /** W3.6, where transitions differ: which are counted, and how often each, so that all of them are. */
  counted?(parameters: P, transitions: number): readonly Counted[]
  /**
   * W12.3. The same work with one of the sequences that a transition takes, where these know nothing of each other but for
   * sums over all of them; and how many there are. Null, or without it: nothing of the kind.
   */
  alone?(parameters: P): { readonly parameters: P; readonly sequences: number } | null
  /** Which products of a card it is made of, in the words of Proof of GPU; without it, any. */
  readonly unit?: Unit
  /** What the statistics of a transition are called, in their order; none where they are no floats. */
  readonly figures: readonly string[]
  /** What each method shows of it, in words. */
  readonly guarantees: readonly string[]
}
