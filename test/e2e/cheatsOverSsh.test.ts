import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import type { VerifyJob } from '../../src/apps/validator/fleet/fleet.ts'
import { runFleet } from '../../src/apps/validator/fleet/runFleet.ts'
import { type BoxReport, verifyBox } from '../../src/apps/validator/verifyBox.ts'
import type { Catalogue } from '../../src/core/identify/catalogue.ts'
import { PRESETS } from '../../src/core/params/presets.ts'
import type { TileEngine } from '../../src/core/proof/tileEngine.ts'
import { connectSsh } from '../../src/drivers/remote/ssh/connectSsh.ts'
import { openEmbedded } from '../../src/drivers/store/openEmbedded.ts'
import { systemClock } from '../../src/drivers/system/systemClock.ts'
import { systemRandomness } from '../../src/drivers/system/systemRandomness.ts'
import type { OnRoot, SeriesTask } from '../../src/ports/device.ts'
import { CheatingDevice, honestDevices, withDevices } from '../cheats/cheat.ts'
import { BOX_CHEATS } from '../cheats/cheats.ts'
import { shippedCatalogue } from '../sim/shippedCatalogue.ts'
import { bridgeTo, makeBridgeRelease } from '../support/bridgedProgram.ts'
import { embeddedFolder } from '../support/embeddedFolder.ts'
import { testDeps, testRules } from '../support/fleetKit.ts'
import { inlineChecker } from '../support/inlineChecker.ts'
import { honestProgram, type ProverProgram, tampered } from '../support/inProcessBox.ts'
import { keyPair } from '../support/keyPair.ts'
import { startOpenSsh, whyNoOpenSsh } from '../support/openSshServer.ts'
import { startSshServer, type TestSshServer } from '../support/sshServer.ts'
import { entry } from '../support/storeFixtures.ts'
import { testEngine } from '../support/testEngine.ts'
import { outcomeOf, TINY, VALIDATOR } from '../support/verifyInProcess.ts'
import { VirtualClock } from '../support/virtualClock.ts'

/** A real connection passes time of its own: what cheaters wait for is real, and short. */
class RealTime extends VirtualClock {
  override monotonicUs(): number {
    return systemClock.monotonicUs()
  }
  override sleep(milliseconds: number, signal = new AbortController().signal): Promise<void> {
    return systemClock.sleep(milliseconds, signal)
  }
  override spend(): void {}
}

/** Attacks that the transport has a part in; those that wait for minutes run in virtual time, in test/cheats. */
const CHOSEN = [
  'fast numbers', // attack 5
  'a line of text in the run', // attack 5
  'code in data in the run', // attack 12
  'a frame of 4 GB in the run', // attack 12
  'a line of text before the run', // attack 12
  'a shell string for a name', // attack 12
  'telemetry that is no JSON', // attack 12
  'a replaced program that works', // attack 15
  'a replaced program that cheats', // attack 15
  'a jumping wall clock', // attack 17
  'a relay to an honest prover', // attack 33
  'a relay that signs', // attack 33
  'gone when the nonce is out', // attack 34
  'a refusal when the nonce is out', // attack 34
  'gone before the result', // attack 34
]

const root = mkdtempSync(join(tmpdir(), 'touchstone-cheats-'))
const [host, user] = [keyPair(), keyPair()]
let server: TestSshServer
let engine: TileEngine
let catalogue: Catalogue
let release: string

beforeAll(async () => {
  engine = await testEngine()
  catalogue = await shippedCatalogue()
  release = makeBridgeRelease(join(root, 'release'))
  const home = join(root, 'home')
  mkdirSync(home)
  server =
    whyNoOpenSsh() === null
      ? await startOpenSsh({ folder: join(root, 'sshd'), home, hostKey: host.private, authorizedKeys: user.public })
      : await startSshServer({ home, user: 'renter', hostKey: host.private, authorizedKey: user.public })
})
afterAll(async () => {
  await server.close()
  rmSync(root, { recursive: true, force: true })
})

const verifyOverSsh = (program: ProverProgram, options: object = {}): Promise<string> =>
  outcomeOf(reportOverSsh(program, options))

async function reportOverSsh(
  program: ProverProgram,
  options: object = {},
  signal = new AbortController().signal,
): Promise<BoxReport> {
  const bridge = await bridgeTo(program)
  const ssh = {
    auth: { privateKey: user.private },
    knownHostsFiles: [],
    ownKnownHostsFile: join(root, 'known_hosts'),
    onFirstUse: () => true,
    flavours: [{ directory: release, machine: 'any', carriesNode: false }],
    keep: true,
    proverArguments: [String(bridge.port)],
    graceMs: 100,
  }
  try {
    return await verifyBox(
      { ...TINY, ...options },
      {
        clock: systemClock,
        randomness: systemRandomness,
        signer: VALIDATOR,
        checker: inlineChecker(engine),
        catalogue,
        connect: () => connectSsh(`ssh://${server.user}@127.0.0.1:${server.port}`, ssh, signal),
      },
      signal,
    )
  } finally {
    await bridge.close()
  }
}

describe('a box that cheats over SSH', { timeout: 60_000 }, () => {
  const kit = () => ({ engine, clock: new RealTime(), chance: Math.random })

  test('attack 16, an honest box with chatter on standard error is accepted', async () => {
    expect(await verifyOverSsh(honestProgram({ devices: honestDevices(kit()) }))).toBe('ACCEPTED')
  })

  const cheats = CHOSEN.map((name) => {
    const cheat = BOX_CHEATS.find((candidate) => candidate.name === name)
    if (cheat === undefined) throw new Error(`there is no cheat called "${name}" any more`)
    return [`row ${cheat.attack}, ${cheat.name}: ${cheat.expected}`, cheat] as const
  })
  test.concurrent.each(cheats)('%s', async (_, cheat) => {
    expect(await verifyOverSsh(cheat.program(kit()), cheat.options)).toBe(cheat.expected)
  })

  test('attack 6, one card answers for two: the scaling shows one', async () => {
    const { clock } = kit()
    let busy: Promise<void> = Promise.resolve()
    // Long against what a busy machine adds: alone a round takes 100 ms, together 200.
    const round = (signal: AbortSignal) => {
      busy = busy.then(() => clock.sleep(100, signal))
      return busy
    }
    const { judgement } = await reportOverSsh(honestProgram({ devices: honestDevices(kit(), 2, { costs: { round } }) }))
    expect(judgement.outcome).toBe('accepted')
    expect(judgement.scaling).toBeLessThan(750)
    expect(judgement.count.established).toBe(false)
  })

  test('attack 27, a calibration that is slow on purpose lowers no k, and the run it buys is too short', async () => {
    const asked: number[] = []
    class Sandbags extends CheatingDevice {
      #wait = 0

      override runSeries(task: SeriesTask, onRoot: OnRoot, signal: AbortSignal): Promise<void> {
        // Two calibrations, the run, and the run done again for being short: faster each time.
        this.#wait = [400, 400, 100][asked.length] ?? 0
        asked.push(task.k)
        return super.runSeries(task, onRoot, signal)
      }

      override readonly costs = { round: (signal: AbortSignal) => this.kit.clock.sleep(this.#wait, signal) }
    }
    const small = { ...PRESETS.devnet, size: 64 }
    const program = withDevices(Sandbags, 1, { facts: { class: 'gpu', backEnd: 'cuda', name: 'NVIDIA H200' } })(kit())
    expect(await verifyOverSsh(program, { preset: small, partSeconds: small.partSeconds })).toBe('TOO_SHORT')
    expect(asked).toEqual([64, 64, 64, 64])
  })

  test.concurrent('attack 18, a box that ends quietly or says busy does not keep its good score', async () => {
    const { folder, end } = await embeddedFolder()
    const store = await openEmbedded({ folder })
    const honest = () =>
      honestProgram({ devices: honestDevices(kit(), 1, { facts: { class: 'gpu', backEnd: 'cuda', name: 'Card' } }) })
    const busy = () =>
      tampered(honest(), {
        onAnswer: (answer, line) =>
          line.answer(answer.type === 'ready' ? { type: 'fault', code: 'DEVICE_BUSY', text: 'at work' } : answer),
      })
    const quiet = (): ProverProgram => async () => {}
    const turns: Readonly<Record<string, readonly (() => ProverProgram)[]>> = {
      quiet: [honest, quiet],
      busy: [honest, busy, busy],
    }
    const verify: VerifyJob = ({ boxId, round }, _hooks, signal) =>
      reportOverSsh(turns[boxId]![round - 1]!(), {}, signal)
    const { score: usual } = await testRules()
    // Full marks for one operation a second: a stand-in computes too slowly to earn a point of the usual score.
    const rates = { int8: 1, fp8: 1, bf16: 1, fp16: 1, fp32: 1 }
    const score = { ...usual, reference: { ...usual.reference, rates } }
    const rules = await testRules({ box: { busyLimit: 1 }, score })
    const statesAfter = async (round: number, ids: readonly string[]) => {
      for (const boxId of round > 1 ? ids : [])
        await store.addJob({ boxId, round, kind: 'full', reason: 'asked', cohort: -1, delayMs: 0 })
      const stop = new AbortController()
      const running = runFleet(testDeps(store, verify), rules, stop.signal)
      const results = (id: string) => store.history(id, { after: null, limit: 9 })
      const done = async () => (await Promise.all(ids.map(results))).every(({ items }) => items.length >= round)
      await vi.waitUntil(done, { timeout: 50_000, interval: 50 }).finally(() => stop.abort())
      await running
      return (await Promise.all(ids.map((id) => store.box(id)))).map((box) => box!)
    }
    try {
      const ids = ['quiet', 'busy']
      for (const id of ids) await store.putBox(entry(id))
      const good = await statesAfter(1, ids)
      expect(good.map(({ status }) => status)).toEqual(['verified', 'verified'])
      for (const { score } of good) expect(score).toBeGreaterThan(0)
      const { score, scoredAt } = good[1]!
      expect(await statesAfter(2, ids)).toMatchObject([
        { status: 'failed', score: 0 },
        { status: 'busy', score, scoredAt },
      ])
      expect(await statesAfter(3, ['busy'])).toMatchObject([{ status: 'failed', score: 0 }])
    } finally {
      await store.close()
      end()
    }
  })
})
