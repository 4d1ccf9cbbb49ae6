import { HASH_BYTES } from '../../../../core/proof/merkle.ts'
import type { PatchEvidence } from '../../../../core/work/checkPatch.ts'
import type { PatchDraw } from '../../../../core/work/draws.ts'
import { encodePairs, type Pair } from '../../../../core/work/methods/sumcheck/field.ts'
import type { Place } from '../../../../core/work/op.ts'
import { requireThat } from '../../../../core/work/refusals.ts'
import { type ShardedProgram, splitShards } from '../../../../core/work/shards.ts'
import { type StateMark, stateRoot } from '../../../../core/work/stateChain.ts'
import { tensorBytes } from '../../../../core/work/tensor.ts'
import { segmentPrograms, type Work } from '../../../../core/work/work.ts'
import type { WorkKernels } from '../../../../core/work/workKernels.ts'
import type { Tensors, WorkRun } from '../../../../ports/workDevice.ts'
import type { WorkCard } from './card.ts'
import { openStep } from './cardOpenings.ts'
import { CardPlans } from './cardPlans.ts'
import { CardTransitions, type Queued } from './cardTransitions.ts'
import type { Plan } from './series.ts'

const ROOTS = '\0roots'
const GATHERED = '\0gathered '
/** States up to this size leave any card room for a third one. */
const MOST_AHEAD_BYTES = 2 ** 31

/** A work on one card: as EngineRun, with tensors, roots and trees where the steps are. */
export class CardRun implements WorkRun {
  readonly #card: WorkCard
  readonly #work: Work<WorkKernels>
  readonly #given: Tensors
  readonly #kept = new Map<number, Tensors>()
  readonly #plans: CardPlans
  readonly #transitions: CardTransitions
  /** The next segment: planned, and its first transitions queued behind what the card does now. */
  #next: { readonly segment: number; readonly plans: readonly Plan[]; readonly queued: readonly Queued[] } | null = null

  private constructor(card: WorkCard, work: Work<WorkKernels>, given: Tensors) {
    this.#card = card
    this.#work = work
    this.#given = given
    this.#plans = new CardPlans(work, card.canFuse)
    this.#transitions = new CardTransitions(card, work)
  }

  /** Throws a WorkRefusal where what is given is not what the specification names. */
  static async start(card: WorkCard, work: Work<WorkKernels>, given: Tensors): Promise<CardRun> {
    for (const [name, shape] of work.given)
      requireThat(given.get(name)?.length === tensorBytes(shape), 'BAD_INPUT', `${name} is missing, or of another size`)
    const run = new CardRun(card, work, given)
    run.#place(new Map())
    const names = [...work.given.keys()]
    const roots = await run.#rootsOf(names)
    for (const [i, name] of names.entries()) {
      const isNamed = roots[i]!.every((byte, at) => byte === work.givenRoots.get(name)![at])
      requireThat(isNamed, 'BAD_INPUT', `${name} has another root than the specification names`)
    }
    work.requireGiven(given)
    return run
  }

  async advance(segment: number): Promise<StateMark> {
    const { memory } = this.#card
    const names = [...this.#work.state.keys()]
    const next = this.#next?.segment === segment ? this.#next : { plans: this.#plans.of(segment), queued: [] }
    this.#next = null
    this.#release()
    let statistics: readonly number[] = []
    // The whole segment is queued before anybody waits: between two short transitions the card would wait for us.
    const queued = this.#queueAll(next.plans, next.queued)
    this.#goOn(segment + 1)
    const { event, at } = queued.at(-1)!.roots!
    await this.#card.reached(event)
    for (const one of queued) statistics = this.#transitions.finish(one)
    const found = hashesIn(this.#card.take(memory.place(at))).slice(0, names.length)
    memory.free(at)
    return { transition: segment < 0 ? 0 : this.#work.ends[segment]!, root: stateRoot(found), statistics }
  }

  /**
   * While a state is hashed, the card goes on: the state keeps another name until whoever works asks for the next one.
   * From its second transition on a segment needs room for a third state.
   * The beginning is made once and may be looked at: nothing is queued behind it.
   */
  #goOn(segment: number): void {
    if (segment === 0 || segment >= this.#work.ends.length) return
    const { memory } = this.#card
    for (const [name, shape] of this.#work.state) memory.share(held(name), name, shape)
    const plans = this.#plans.of(segment)
    const stateBytes = [...this.#work.state.values()].reduce((sum, shape) => sum + tensorBytes(shape), 0)
    const most = stateBytes <= MOST_AHEAD_BYTES ? plans.length : 1
    this.#next = { segment, plans, queued: this.#queueAll(plans, [], most) }
  }

  /** Transitions of a segment up to so many, as far as they are not queued: its last one makes a state that is committed. */
  #queueAll(plans: readonly Plan[], queued: readonly Queued[], most = plans.length): readonly Queued[] {
    return plans.slice(0, most).map((plan, i) => {
      if (queued[i]) return queued[i]
      const here = this.#transitions.queue(plan, i === plans.length - 1)
      this.#transitions.rename(plan.program)
      return here
    })
  }

  /** Nobody asks for the state before any more. */
  #release(): void {
    for (const name of this.#work.state.keys())
      if (this.#card.memory.has(held(name))) this.#card.memory.free(held(name))
  }

  async makeShard(segment: number, shard: number): Promise<Tensors> {
    const { memory } = this.#card
    const part = this.#shardsOf(segment).parts[shard]!
    const queued = this.#transitions.queue(this.#plans.part(shard, part))
    await this.#card.settle()
    this.#transitions.finish(queued)
    const made = new Map<string, Uint8Array>()
    for (const name of part.after) {
      made.set(name, (await this.read(name)).slice())
      memory.free(name)
    }
    return made
  }

  async joinShards(segment: number, made: Tensors): Promise<StateMark> {
    const { join } = this.#shardsOf(segment)
    for (const [name, bytes] of made) this.#card.write(name, join.shapes.get(name)!, bytes)
    const queued = this.#transitions.queue(this.#plans.part('join', join))
    this.#transitions.rename(join)
    for (const name of made.keys()) this.#card.memory.free(name)
    await this.#card.settle()
    const statistics = this.#transitions.finish(queued)
    const roots = await this.#rootsOf([...this.#work.state.keys()])
    return { transition: this.#work.ends[segment]!, root: stateRoot(roots), statistics }
  }

  #shardsOf(segment: number): ShardedProgram {
    const [program, ...more] = segmentPrograms(this.#work, segment)
    if (!program || more.length > 0) throw new RangeError('shards are joined after every transition')
    return splitShards(program)
  }

  async keep(segment: number): Promise<void> {
    const state = new Map<string, Uint8Array>()
    for (const name of this.#work.state.keys()) state.set(name, await this.read(name))
    this.#kept.set(segment, state)
  }

  async read(name: string): Promise<Uint8Array> {
    const place = this.#present(name)
    // What the card has gone on from is done: nobody waits for what it does now.
    return this.#card.memory.has(held(name)) ? this.#card.take(place) : await this.#card.readWhole(place)
  }

  /** A tensor of the state that was committed last, or of what is run again. */
  #present(name: string): Place {
    const { memory } = this.#card
    return memory.place(memory.has(held(name)) ? held(name) : name)
  }

  async trace(segment: number): Promise<readonly Uint8Array[]> {
    await this.#return(segment)
    const carries = segment >= 0 && !this.#work.isIndependent
    const roots = carries ? [...(await this.#rootsOf([...this.#work.state.keys()]))] : []
    for (const program of segmentPrograms(this.#work, segment)) {
      const outputs = program.steps.reduce((sum, step) => sum + step.outputs.length, 0)
      const there = this.#card.memory.make(ROOTS, { type: 'u8', rows: outputs, width: HASH_BYTES })
      let next = there.at
      await this.#transitions.walk(program, (_, names) => {
        this.#card.roots(
          names.map((name) => this.#card.memory.place(name)),
          next,
        )
        next += HASH_BYTES * names.length
      })
      roots.push(...hashesIn(await this.#card.readWhole(there)))
      this.#card.memory.free(ROOTS)
    }
    return roots
  }

  async open(segment: number, draws: readonly PatchDraw[]): Promise<readonly PatchEvidence[]> {
    await this.#return(segment)
    const found = new Map<PatchDraw, PatchEvidence>()
    for (const [transition, program] of segmentPrograms(this.#work, segment).entries())
      await this.#transitions.walk(program, async (step) => {
        const here = draws.filter((draw) => draw.transition === transition && draw.step === step)
        if (here.length === 0) return
        const patches = await openStep(this.#card, this.#work.ops, program, here)
        for (const [i, draw] of here.entries()) found.set(draw, patches[i]!)
      })
    return draws.map((draw) => found.get(draw)!)
  }

  async outputOf(segment: number, at: Omit<PatchDraw, 'patch'>, output: number): Promise<Uint8Array> {
    await this.#return(segment)
    let found: Uint8Array = new Uint8Array()
    for (const [transition, program] of segmentPrograms(this.#work, segment).entries())
      await this.#transitions.walk(program, async (step, outputs) => {
        if (transition === at.transition && step === at.step) found = await this.read(outputs[output]!)
      })
    return found
  }

  async gather(name: string, point: readonly Pair[]): Promise<Uint8Array> {
    const { memory } = this.#card
    const vector = `${GATHERED}${name}`
    const bytes = await this.#card.readWhole(this.#card.gather(this.#present(name), encodePairs(point), vector))
    memory.free(vector)
    return bytes
  }

  async #rootsOf(names: readonly string[]): Promise<readonly Uint8Array[]> {
    if (names.length === 0) return []
    const { memory } = this.#card
    const there = memory.make(ROOTS, { type: 'u8', rows: names.length, width: HASH_BYTES })
    this.#card.roots(
      names.map((name) => memory.place(name)),
      there.at,
    )
    const bytes = await this.#card.readWhole(there)
    memory.free(ROOTS)
    return hashesIn(bytes)
  }

  /** To the state before a segment, from the nearest one that was kept. */
  async #return(segment: number): Promise<void> {
    if (segment < 0 || this.#work.isIndependent) {
      this.#place(new Map())
      return
    }
    const nearest = Math.max(...[...this.#kept.keys()].filter((kept) => kept < segment))
    if (nearest === -Infinity) throw new RangeError(`no state before segment ${segment} was kept`)
    this.#place(this.#kept.get(nearest)!)
    for (let between = nearest + 1; between < segment; between++)
      for (const plan of this.#plans.of(between)) await this.#transitions.end(this.#transitions.queue(plan))
    // It will be asked for once more: first the trace, then the patches.
    if (nearest < segment - 1) await this.keep(segment - 1)
  }

  #place(state: Tensors): void {
    this.#card.stop()
    this.#next = null
    this.#card.memory.clear()
    for (const [name, bytes] of this.#given) this.#card.write(name, this.#work.given.get(name)!, bytes)
    for (const [name, bytes] of state) this.#card.write(name, this.#work.state.get(name)!, bytes)
  }
}

/** The name of a state that is hashed and looked at while the card goes on. */
const held = (name: string): string => `\0held ${name}`

const hashesIn = (bytes: Uint8Array): readonly Uint8Array[] =>
  Array.from({ length: bytes.length / HASH_BYTES }, (_, i) => bytes.slice(i * HASH_BYTES, (i + 1) * HASH_BYTES))
