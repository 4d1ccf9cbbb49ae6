import type { Catalogue } from '../../src/core/identify/catalogue.ts'
import type { TileEngine } from '../../src/core/proof/tileEngine.ts'
import { honestProgram } from '../support/inProcessBox.ts'
import { seededRandomness, uniformFrom } from '../support/seededRandomness.ts'
import { outcomeOf, verifyInProcess } from '../support/verifyInProcess.ts'
import { VirtualClock } from '../support/virtualClock.ts'
import type { CheatKit } from './cheat.ts'
import { skipRounds, skipTiles } from './workCheats.ts'

export interface Trial {
  readonly what: 'tiles' | 'rounds'
  /** Share that is not computed. */
  readonly skipped: number
  readonly openings: number
  /** Number of the first seed. */
  readonly from?: number
}

export interface Measured {
  readonly accepted: number
  readonly runs: number
  /** (1 - e)^s of the runs. */
  readonly expected: number
  /** Standard deviation of a binomial count. */
  readonly sigma: number
}

/** How often a prover that skips a share of the work is accepted, each run with seeds of its own. */
export async function measureFraction(
  { what, skipped, openings, from = 0 }: Trial,
  runs: number,
  { engine, catalogue }: { readonly engine: TileEngine; readonly catalogue: Catalogue },
): Promise<Measured> {
  const Cheating = what === 'tiles' ? skipTiles(skipped) : skipRounds(skipped)
  let accepted = 0
  for (let run = from; run < from + runs; run++) {
    const clock = new VirtualClock()
    const kit: CheatKit = { engine, clock, chance: uniformFrom(seededRandomness(2 * run + 1)) }
    const program = honestProgram({ devices: [new Cheating({ engine }, kit)] })
    const randomness = seededRandomness(2 * run)
    const outcome = await outcomeOf(
      verifyInProcess({ program, catalogue, engine, clock, randomness, options: { openings } }),
    )
    if (outcome === 'ACCEPTED') accepted++
    else if (outcome !== 'OPENING_DOES_NOT_REACH_ROOT') throw new Error(`an outcome of another kind: ${outcome}`)
  }
  const share = (1 - skipped) ** openings
  return { accepted, runs, expected: share * runs, sigma: Math.sqrt(share * (1 - share) * runs) }
}
