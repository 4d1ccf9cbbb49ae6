import { concatBytes, joinBytes, words32 } from '../bytes/bytes.ts'
import { type PatchEvidence, showPatch, type TakeLeaves } from './checkPatch.ts'
import type { PatchDraw } from './draws.ts'
import type { ShapedProgram } from './program.ts'
import { type ShardedProgram, splitShards } from './shards.ts'
import { type StateMark, stateRoot } from './stateChain.ts'
import { leafSpan, type TensorShape } from './tensor.ts'
import { type OnStep, runProgram, TensorMemory, type WorkEngine } from './tensorMemory.ts'
import { proveLeaves, rootOfLeaves, tensorLevels, tensorRoot } from './tensorTree.ts'
import { requireGiven, segmentPrograms, type Work } from './work.ts'

/** Trees of tensors, made by whatever is fast here. */
export interface TensorHasher {
  root(shape: TensorShape, bytes: Uint8Array): Uint8Array
  /** The whole tree, for as many proofs as are asked of it. */
  tree(shape: TensorShape, bytes: Uint8Array): Tree
  /** What of the tree lies under the node `at` of a height, with it: level by level, leaves first. */
  levelsUnder(shape: TensorShape, bytes: Uint8Array, height: number, at: number): Uint8Array
  /** W4.1.3. The root that opened leaves, ascending, and the hashes beside them lead to. */
  rootOfOpened(shape: TensorShape, leaves: ReadonlyMap<number, Uint8Array>, proof: Uint8Array): Uint8Array
}

export interface Tree {
  readonly root: Uint8Array
  prove(leaves: readonly number[]): Uint8Array
}

/** Runs anywhere, and is slow. */
export const PLAIN_HASHER: TensorHasher = {
  root: tensorRoot,
  tree(shape, bytes) {
    const levels = tensorLevels(shape, bytes)
    return { root: levels.at(-1)![0]!, prove: (leaves) => proveLeaves(levels, leaves) }
  },
  levelsUnder: (...asked) => joinBytes(tensorLevels(...asked).flat()),
  rootOfOpened: rootOfLeaves,
}

type State = ReadonlyMap<string, Uint8Array>

/**
 * A work step by step on an engine: what the program says, without shortcuts. Segment -1 is the beginning. A segment is run
 * again from the nearest state that was kept before it.
 */
export class EngineRun<K> {
  readonly #engine: WorkEngine<K>
  readonly #work: Work<K>
  readonly #hasher: TensorHasher
  readonly #given: State
  readonly #kept = new Map<number, State>()
  #memory: TensorMemory<K>

  /** Throws a WorkRefusal where what is given is not what the specification names. */
  constructor(engine: WorkEngine<K>, work: Work<K>, given: State, hasher: TensorHasher = PLAIN_HASHER) {
    requireGiven(work, given, hasher.root)
    this.#engine = engine
    this.#work = work
    this.#hasher = hasher
    this.#given = given
    this.#memory = this.#withState(new Map())
  }

  /** Runs a segment from the present state on, and says what it came to. */
  advance(segment: number): StateMark {
    let statistics: readonly number[] = []
    const programs = segmentPrograms(this.#work, segment)
    for (const program of programs) statistics = this.#run(program)
    const roots = programs.at(-1)!.after.map((_, i) => this.#rootOf([...this.#work.state.keys()][i]!))
    return { transition: segment < 0 ? 0 : this.#work.ends[segment]!, root: stateRoot(roots), statistics }
  }

  /** What one shard of a segment's transition makes from the present state, which stays as it is. */
  makeShard(segment: number, shard: number): State {
    const part = this.#shardsOf(segment).parts[shard]!
    runProgram(this.#work.ops, this.#memory, part)
    const made = new Map(part.after.map((name) => [name, this.read(name)]))
    for (const name of part.after) this.#memory.free(name)
    return made
  }

  /** The rest of that transition, from what all its shards made: the next state, as `advance` comes to it. */
  joinShards(segment: number, made: State): StateMark {
    const { join } = this.#shardsOf(segment)
    for (const [name, bytes] of made) this.#memory.write(name, join.shapes.get(name)!, bytes)
    const statistics = this.#run(join)
    for (const name of made.keys()) this.#memory.free(name)
    const roots = [...this.#work.state.keys()].map((name) => this.#rootOf(name))
    return { transition: this.#work.ends[segment]!, root: stateRoot(roots), statistics }
  }

  #shardsOf(segment: number): ShardedProgram {
    const [program, ...more] = segmentPrograms(this.#work, segment)
    if (!program || more.length > 0) throw new RangeError('shards are joined after every transition')
    return splitShards(program)
  }

  /** Keeps the present state as that after `segment`. */
  keep(segment: number): void {
    this.#kept.set(segment, new Map([...this.#work.state.keys()].map((name) => [name, this.read(name)])))
  }

  /** A tensor of the present state. */
  read(name: string): Uint8Array {
    return this.#memory.bytes(name).slice()
  }

  /** Replay: from a state handed in (that after the segment before), whose root is the caller's business. */
  replayFrom(segment: number, state: State): StateMark {
    this.#kept.set(segment - 1, state)
    this.#return(segment)
    return this.advance(segment)
  }

  /** The state that a segment begins with. */
  stateBefore(segment: number): State {
    this.#return(segment)
    return this.#kept.get(segment - 1)!
  }

  /** Roots of the state before and of every step of a segment, which is run again. */
  trace(segment: number): readonly Uint8Array[] {
    this.#return(segment)
    const carries = segment >= 0 && !this.#work.isIndependent
    const roots = carries ? [...this.#work.state.keys()].map((name) => this.#rootOf(name)) : []
    for (const program of segmentPrograms(this.#work, segment))
      this.#run(program, (_, outputs) => roots.push(...outputs.map((name) => this.#rootOf(name))))
    return roots
  }

  /** The drawn patches of a segment, which is run once more: a trace of it may be larger than any memory. */
  open(segment: number, draws: readonly PatchDraw[]): readonly PatchEvidence[] {
    this.#return(segment)
    const found = new Map<PatchDraw, PatchEvidence>()
    for (const [transition, program] of segmentPrograms(this.#work, segment).entries())
      this.#run(program, (step) => {
        const trees = new Map<string, Tree>()
        for (const draw of draws)
          if (draw.transition === transition && draw.step === step) found.set(draw, this.#patch(program, draw, trees))
      })
    return draws.map((draw) => found.get(draw)!)
  }

  /** One whole output of a step of a segment, which is run again. */
  outputOf(segment: number, at: Omit<PatchDraw, 'patch'>, output: number): Uint8Array {
    this.#return(segment)
    let found = new Uint8Array()
    for (const [transition, program] of segmentPrograms(this.#work, segment).entries())
      this.#run(program, (step, outputs) => {
        if (transition === at.transition && step === at.step) found = this.#memory.bytes(outputs[output]!).slice()
      })
    return found
  }

  /** `trees` holds those that were made for this step already. */
  #patch(program: ShapedProgram, { step, patch }: PatchDraw, trees: Map<string, Tree>): PatchEvidence {
    const op = this.#work.ops[program.steps[step]!.op]!
    const leaves: Uint8Array[] = []
    const proofs: Uint8Array[] = []
    const take: TakeLeaves = (name, shape, asked, shown) => {
      const bytes = this.#memory.bytes(name)
      if (!trees.has(name)) trees.set(name, this.#hasher.tree(shape, bytes))
      proofs.push(trees.get(name)!.prove(asked))
      const leafOf = (leaf: number) => {
        const { start, length } = leafSpan(shape, leaf)
        return bytes.slice(start, start + length)
      }
      leaves.push(...shown.map(leafOf))
      return leafOf
    }
    const drawn = op.patch(program.shaped[step]!, patch)
    showPatch(program, step, drawn, take, (name) => this.#given.get(name) ?? null)
    return { leaves: concatBytes(...leaves), proof: concatBytes(...proofs) }
  }

  #rootOf(name: string): Uint8Array {
    return this.#hasher.root(this.#memory.place(name).shape, this.#memory.bytes(name))
  }

  /** One transition: the next state takes the names of the one before. */
  #run(program: ShapedProgram, onStep: OnStep = () => {}): readonly number[] {
    const memory = this.#memory
    runProgram(this.#work.ops, memory, program, onStep)
    const bits = program.statistics.flatMap((name) => [...words32(memory.bytes(name).slice())])
    for (const name of program.statistics) if (!program.after.includes(name)) memory.free(name)
    const names = [...this.#work.state.keys()]
    for (const name of names) if (memory.has(name) && !program.after.includes(name)) memory.free(name)
    for (const [i, name] of program.after.entries()) if (name !== names[i]) memory.rename(name, names[i]!)
    return bits
  }

  #return(segment: number): void {
    if (segment < 0 || this.#work.isIndependent) {
      this.#memory = this.#withState(new Map())
      return
    }
    const nearest = Math.max(...[...this.#kept.keys()].filter((kept) => kept < segment))
    if (nearest === -Infinity) throw new RangeError(`no state before segment ${segment} was kept`)
    this.#memory = this.#withState(this.#kept.get(nearest)!)
    for (let between = nearest + 1; between < segment; between++)
      for (const program of segmentPrograms(this.#work, between)) this.#run(program)
    // It will be asked for once more: first the trace, then the patches.
    this.keep(segment - 1)
  }

  #withState(state: State): TensorMemory<K> {
    const memory = new TensorMemory(this.#engine)
    for (const [name, bytes] of this.#given) memory.write(name, this.#work.given.get(name)!, bytes)
    for (const [name, bytes] of state) memory.write(name, this.#work.state.get(name)!, bytes)
    return memory
  }
}
