import type { RunPatch } from './checkPatch.ts'
import type { Ops } from './program.ts'

/** W4.5. Below this share nobody is paid at all. */
const LEAST_LIVE_SHARE = 0.5

/** W4.5, the live rule: counts, op by op, how many of the patches that were recomputed show work that anyone could skip. */
export class LiveRule<K> {
  readonly #ops: Ops<K>
  readonly #counts = new Map<string, { all: number; dead: number }>()

  constructor(ops: Ops<K>) {
    this.#ops = ops
  }

  /** Recomputes as `runPatch` does, and looks at what it sees. */
  watching(runPatch: RunPatch): RunPatch {
    return (name, patch, step, gathered) => {
      const made = runPatch(name, patch, step, gathered)
      const op = this.#ops[name]!
      if (!op.deadShare || !made) return made
      const { all, dead } = this.#counts.get(name) ?? { all: 0, dead: 0 }
      this.#counts.set(name, { all: all + 1, dead: dead + op.deadShare(gathered.inputs, made, patch.numbers) })
      return made
    }
  }

  /** The smallest share of live patches of any op. */
  get share(): number {
    return Math.min(1, ...[...this.#counts.values()].map(({ all, dead }) => 1 - dead / all))
  }
}

/**
 * Operations that are credited: those that a state depends on, less what is dead of all that is counted. Draws are by all of
 * it, so that what nobody needs may be the live part (attack 456).
 */
export function creditedOperations(needed: number, liveShare: number, operations = needed): number {
  const credited = Math.floor(needed - (1 - liveShare) * operations)
  return liveShare < LEAST_LIVE_SHARE || credited < LEAST_LIVE_SHARE * needed ? 0 : credited
}
