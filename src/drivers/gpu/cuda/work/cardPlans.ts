import type { ShapedProgram } from '../../../../core/work/program.ts'
import type { Work } from '../../../../core/work/work.ts'
import type { WorkKernels } from '../../../../core/work/workKernels.ts'
import { planProgram } from './plan.ts'
import { type Plan, ratesOf, reachOf } from './series.ts'

/** A plan that serves the transitions after its own. */
interface Series {
  readonly first: number
  readonly plan: Plan
  readonly reach: number
}

/** How the transitions of a work are run: planned as seldom as their shapes allow. */
export class CardPlans {
  readonly #work: Work<WorkKernels>
  readonly #canFuse: boolean
  readonly #parts = new Map<number | 'join', Plan>()
  #series: Series | null = null
  #last: Plan | null = null

  constructor(work: Work<WorkKernels>, canFuse: boolean) {
    this.#work = work
    this.#canFuse = canFuse
  }

  /** The transitions of a segment; before the first, what makes the beginning. */
  of(segment: number): readonly Plan[] {
    if (segment < 0) return [this.#shared(this.#work.begin())]
    const from = segment === 0 ? 0 : this.#work.ends[segment - 1]!
    return Array.from({ length: this.#work.ends[segment]! - from }, (_, i) => this.#planFor(from + i + 1))
  }

  /** Parts are planned once for all transitions of the same shapes. */
  part(part: number | 'join', program: ShapedProgram): Plan {
    const known = this.#parts.get(part)
    const plan = known?.program.shapes === program.shapes ? { ...known, program } : this.#fresh(program)
    this.#parts.set(part, plan)
    return plan
  }

  /** Planned anew, unless the one before has the same shapes. */
  #shared(program: ShapedProgram): Plan {
    const known = this.#last?.program.shapes === program.shapes ? this.#last.actions : null
    this.#last = known ? { program, actions: known, rates: null, shift: 0 } : this.#fresh(program)
    return this.#last
  }

  #fresh(program: ShapedProgram): Plan {
    const states = new Set(this.#work.state.keys())
    return { program, actions: planProgram(program, this.#canFuse, states), rates: null, shift: 0 }
  }

  /** Transitions that are alike are planned once. */
  #planFor(transition: number): Plan {
    const first = this.#work.alike(transition)
    const shift = transition - first
    if (shift < 2) return this.#shared(this.#work.transition(transition))
    if (this.#series?.first !== first) this.#series = this.#seriesFrom(first)
    const { plan, reach } = this.#series
    return shift <= reach ? { ...plan, shift } : this.#shared(this.#work.transition(transition))
  }

  #seriesFrom(first: number): Series {
    const plan = this.#fresh(this.#work.transition(first))
    const second = this.#work.transition(first + 1)
    const rates = ratesOf(plan.program, second)
    return { first, plan: { ...plan, rates }, reach: rates ? reachOf(plan, second, rates) : 0 }
  }
}
