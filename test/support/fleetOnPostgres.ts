import { afterAll, beforeAll } from 'vitest'
import type { FleetDeps, FleetRules, VerifyJob } from '../../src/apps/validator/fleet/fleet.ts'
import { runFleet } from '../../src/apps/validator/fleet/runFleet.ts'
import { verifyBox } from '../../src/apps/validator/verifyBox.ts'
import { fault } from '../../src/drivers/remote/faults.ts'
import { openPostgres } from '../../src/drivers/store/openPostgres.ts'
import { systemClock } from '../../src/drivers/system/systemClock.ts'
import { systemRandomness } from '../../src/drivers/system/systemRandomness.ts'
import type { DeviceFacts } from '../../src/ports/device.ts'
import type { Store, TakenJob } from '../../src/ports/store.ts'
import { shippedCatalogue } from '../sim/shippedCatalogue.ts'
import { eventually } from './eventually.ts'
import { inlineChecker } from './inlineChecker.ts'
import { openInProcessBox, ownMachine, type ProverProgram } from './inProcessBox.ts'
import { openReferenceDevice } from './openReferenceDevice.ts'
import { startPostgres, type TestPostgres } from './postgresServer.ts'
import { testEngine } from './testEngine.ts'
import { testSigner } from './testSigner.ts'
import { TINY } from './verifyInProcess.ts'

const engine = await testEngine()
const catalogue = await shippedCatalogue()

/** For the tests of one file: stores on one database server, each `fresh` one of a new database. */
export function useStores() {
  let server: TestPostgres
  let store: Store
  let databases = 0
  const open: Store[] = []
  beforeAll(async () => {
    server = await startPostgres()
  })
  afterAll(() => server?.end())
  /** As another validator opens it. */
  const another = async () => {
    const made = await openPostgres({ url: server.url(`f${databases}`) })
    open.push(made)
    return made
  }
  const fresh = async () => {
    for (const one of open.splice(0)) await one.close()
    await server.createDatabase(`f${++databases}`)
    store = await another()
    return store
  }
  /** Whether something was done and nothing is left to do. */
  const quiet = async () => {
    const { waiting, held, done } = await store.queue()
    return done > 0 && waiting + held === 0
  }
  return { fresh, another, quiet, server: { stop: () => server.stop(), start: () => server.start() } }
}

export const card = (more: Partial<DeviceFacts> = {}) =>
  openReferenceDevice({
    engine,
    facts: { class: 'gpu', backEnd: 'cuda', name: 'Card', details: { uuid: 'U1', driver: '1' }, ...more },
  })

/** The real verifyBox against a program in this process. */
export const verifying =
  (program: (job: TakenJob) => ProverProgram): VerifyJob =>
  (job, hooks, signal) =>
    verifyBox(
      { ...TINY, claim: job.box.claim },
      {
        clock: systemClock,
        randomness: systemRandomness,
        signer: testSigner(1),
        checker: inlineChecker(engine),
        catalogue,
        ...hooks,
        connect: async () => openInProcessBox(program(job)),
      },
      signal,
    )

export const honest = verifying(() => ownMachine({ devices: [card()] }))

/** Runs a fleet until the condition holds, then stops it in order. */
export async function fleetUntil(deps: FleetDeps, rules: FleetRules, holds: () => Promise<boolean>): Promise<void> {
  const stop = new AbortController()
  const running = runFleet(deps, rules, stop.signal)
  try {
    await eventually(holds)
  } finally {
    stop.abort()
    await running
  }
}

/** What a box says, in words that are its own. */
export const words = '\u001b[31mraw words of the box'
export const unreachable = () => fault('BOX_UNREACHABLE', { address: 'ssh://a', why: words })

/** The first page of any list. */
export const all = { after: null, limit: 100 }
