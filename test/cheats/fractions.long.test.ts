import { beforeAll, expect, test } from 'vitest'
import type { Catalogue } from '../../src/core/identify/catalogue.ts'
import type { TileEngine } from '../../src/core/proof/tileEngine.ts'
import { smallCatalogue } from '../sim/shippedCatalogue.ts'
import { testEngine } from '../support/testEngine.ts'
import { measureFraction } from './fractions.ts'

let kit: { engine: TileEngine; catalogue: Catalogue }
beforeAll(async () => {
  kit = { engine: await testEngine(), catalogue: await smallCatalogue() }
})

test.each([
  { attack: 4, what: 'tiles', skipped: 0.25, openings: 8 },
  { attack: 4, what: 'tiles', skipped: 0.5, openings: 4 },
  { attack: 4, what: 'tiles', skipped: 0.5, openings: 4, from: 50_000, runs: 4000 },
  { attack: 29, what: 'rounds', skipped: 0.25, openings: 8 },
  { attack: 29, what: 'rounds', skipped: 0.5, openings: 4 },
] as const)(
  'attack $attack: skipping $skipped of the $what passes $openings openings (1-e)^s of the time',
  async (trial) => {
    const { accepted, runs, expected, sigma } = await measureFraction(trial, 'runs' in trial ? trial.runs : 2000, kit)
    console.info(`accepted ${accepted} of ${runs}, (1-e)^s gives ${expected.toFixed(1)}, sigma ${sigma.toFixed(1)}`)
    expect(Math.abs(accepted - expected)).toBeLessThan(4 * sigma)
  },
)
