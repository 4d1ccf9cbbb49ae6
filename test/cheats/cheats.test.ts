import { beforeAll, describe, expect, test } from 'vitest'
import type { BoxReport } from '../../src/apps/validator/verifyBox.ts'
import type { Catalogue } from '../../src/core/identify/catalogue.ts'
import { explainReason } from '../../src/core/proof/reasons.ts'
import type { TileEngine } from '../../src/core/proof/tileEngine.ts'
import type { TouchstoneError } from '../../src/ports/errors.ts'
import { shippedCatalogue } from '../sim/shippedCatalogue.ts'
import { problemOf } from '../support/problemOf.ts'
import { seededRandomness, uniformFrom } from '../support/seededRandomness.ts'
import { testEngine } from '../support/testEngine.ts'
import { outcomeOf, verifyInProcess } from '../support/verifyInProcess.ts'
import { VirtualClock } from '../support/virtualClock.ts'
import { BOX_CHEATS } from './cheats.ts'
import { EVIDENCE_CHEATS } from './evidenceCheats.ts'

let catalogue: Catalogue
let engine: TileEngine
beforeAll(async () => {
  catalogue = await shippedCatalogue()
  engine = await testEngine()
})

/** What a stranger finds in the certificate of the run, who must be able to read of a cheat as well (attack 493). */
async function certificateSays({ certificate }: BoxReport): Promise<string> {
  const problem = await problemOf(certificate, { engine, catalogue })
  if (!problem) return 'ACCEPTED'
  return problem.code === 'RUN_REJECTED' ? problem.reason!.code : `not read: ${problem.code}`
}

/** Attack 12: all that a person or a log would be told of the run. */
async function spoken(running: Promise<BoxReport>): Promise<string> {
  try {
    const { judgement } = await running
    return JSON.stringify(judgement) + (judgement.reason ? explainReason(judgement.reason) : '')
  } catch (error) {
    const { message, detail, nextStep } = error as TouchstoneError
    return message + JSON.stringify(detail) + nextStep
  }
}

const label = ({ attack, name, expected }: { attack: number; name: string; expected: string }) =>
  `attack ${attack}, ${name}: ${expected}`

describe('a box that cheats', () => {
  test.each(BOX_CHEATS.map((cheat) => [label(cheat), cheat] as const))('%s', async (_, cheat) => {
    const clock = new VirtualClock()
    const kit = { engine, clock, chance: uniformFrom(seededRandomness(7)) }
    let report: BoxReport | null = null
    const running = verifyInProcess({
      program: cheat.program(kit),
      catalogue,
      engine,
      clock,
      ...(cheat.options ? { options: cheat.options } : {}),
    }).then((made) => {
      report = made
      return made
    })
    expect(await outcomeOf(running)).toBe(cheat.expected)
    expect(await spoken(running)).toMatch(/^[\x20-\x7e]*$/)
    cheat.check?.(report!)
    if (report) expect(await certificateSays(report)).toBe(cheat.expected)
  })
})

describe('evidence that lies', () => {
  test.each(EVIDENCE_CHEATS.map((cheat) => [label(cheat), cheat] as const))('%s', async (_, cheat) => {
    expect(await cheat.outcome({ engine, catalogue })).toBe(cheat.expected)
  })
})
