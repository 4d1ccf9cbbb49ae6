import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import type { VerifyJob } from '../../src/apps/validator/fleet/fleet.ts'
import { runFleet } from '../../src/apps/validator/fleet/runFleet.ts'
import type { Catalogue } from '../../src/core/identify/catalogue.ts'
import type { TileEngine } from '../../src/core/proof/tileEngine.ts'
import { openPostgres } from '../../src/drivers/store/openPostgres.ts'
import { systemRandomness } from '../../src/drivers/system/systemRandomness.ts'
import type { Store } from '../../src/ports/store.ts'
import type { BoxCheat } from '../cheats/cheat.ts'
import { BOX_CHEATS } from '../cheats/cheats.ts'
import { testDeps, testRules } from '../support/fleetKit.ts'
import { honestProgram } from '../support/inProcessBox.ts'
import { openReferenceDevice } from '../support/openReferenceDevice.ts'
import { startPostgres, type TestPostgres } from '../support/postgresServer.ts'
import { seededRandomness, uniformFrom } from '../support/seededRandomness.ts'
import { entry } from '../support/storeFixtures.ts'
import { testEngine } from '../support/testEngine.ts'
import { verifyInProcess } from '../support/verifyInProcess.ts'
import { VirtualClock } from '../support/virtualClock.ts'
import { shippedCatalogue } from './shippedCatalogue.ts'

const BOXES = 500
const CHEATING = BOX_CHEATS.filter(({ expected }) => expected !== 'ACCEPTED')
/** A tenth of the fleet, or every way there is, whichever is more. */
const CHEATERS = Math.max(BOXES / 10, CHEATING.length)

let server: TestPostgres
let store: Store
let engine: TileEngine
let catalogue: Catalogue
beforeAll(async () => {
  server = await startPostgres()
  await server.createDatabase('sim')
  store = await openPostgres({ url: server.url('sim') })
  engine = await testEngine()
  catalogue = await shippedCatalogue()
})
afterAll(async () => {
  await store?.close()
  await server?.end()
})

const cheatOf = (boxId: string): BoxCheat | null => {
  const number = Number(boxId.slice(4))
  return number < CHEATERS ? CHEATING[number % CHEATING.length]! : null
}

/** The real verifyBox for every box, each in its own virtual time; cheaters with seeds of their own. */
const verify: VerifyJob = ({ boxId }, _hooks, signal) => {
  const cheat = cheatOf(boxId)
  const clock = new VirtualClock()
  const kit = { engine, clock, chance: uniformFrom(seededRandomness(7)) }
  const device = () => openReferenceDevice({ engine, facts: { class: 'gpu', backEnd: 'cuda', name: 'Card' } })
  const program = cheat ? cheat.program(kit) : honestProgram({ devices: [device()] })
  const randomness = cheat ? seededRandomness(Number(boxId.slice(4))) : systemRandomness
  const options = cheat?.options ? { options: cheat.options } : {}
  return verifyInProcess({ program, catalogue, engine, clock, randomness, ...options }, signal)
}

test(`a fleet of ${BOXES} boxes with ${CHEATERS} cheaters: each rejected for its reason, no honest one rejected`, async () => {
  const ids = Array.from({ length: BOXES }, (_, i) => `box-${i}`)
  for (const id of ids) await store.putBox(entry(id))
  const stop = new AbortController()
  const deps = testDeps(store, verify)
  const running = runFleet(deps, await testRules({ concurrency: 16, cohortSize: 1, jobLimitMs: 60_000 }), stop.signal)
  await vi.waitUntil(
    async () => {
      const { done, waiting, held } = await store.queue()
      return done > 0 && waiting + held === 0
    },
    { timeout: 500_000, interval: 200 },
  )
  stop.abort()
  await running
  for (const id of ids) {
    const cheat = cheatOf(id)
    const { items } = await store.history(id, { after: null, limit: 10 })
    expect(items).toHaveLength(1)
    const got = items[0]!.outcome === 'accepted' ? 'ACCEPTED' : items[0]!.code
    expect([id, cheat?.name, got]).toEqual([id, cheat?.name, cheat?.expected ?? 'ACCEPTED'])
    const box = await store.box(id)
    expect([box!.status, box!.failuresTotal]).toEqual(cheat ? ['failed', 1] : ['verified', 0])
    if (cheat) expect(box!.score).toBe(0)
  }
  expect(deps.lines.filter(({ level }) => level === 'error')).toEqual([])
})
