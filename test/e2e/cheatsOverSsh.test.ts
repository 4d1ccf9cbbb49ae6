import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { verifyBox } from '../../src/apps/validator/verifyBox.ts'
import type { Catalogue } from '../../src/core/identify/catalogue.ts'
import type { TileEngine } from '../../src/core/proof/tileEngine.ts'
import { connectSsh } from '../../src/drivers/remote/ssh/connectSsh.ts'
import { systemClock } from '../../src/drivers/system/systemClock.ts'
import { systemRandomness } from '../../src/drivers/system/systemRandomness.ts'
import { honestDevices } from '../cheats/cheat.ts'
import { BOX_CHEATS } from '../cheats/cheats.ts'
import { shippedCatalogue } from '../sim/shippedCatalogue.ts'
import { keyPair } from '../suites/sshBoxSuite.ts'
import { bridgeTo, makeBridgeRelease } from '../support/bridgedProgram.ts'
import { inlineChecker } from '../support/inlineChecker.ts'
import { honestProgram, type ProverProgram } from '../support/inProcessBox.ts'
import { startOpenSsh, whyNoOpenSsh } from '../support/openSshServer.ts'
import { startSshServer, type TestSshServer } from '../support/sshServer.ts'
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
  'fast numbers', // row 5
  'a line of text in the run', // row 5
  'code in data in the run', // row 12
  'a frame of 4 GB in the run', // row 12
  'a line of text before the run', // row 12
  'a shell string for a name', // row 12
  'telemetry that is no JSON', // row 12
  'a replaced program that works', // row 15
  'a replaced program that cheats', // row 15
  'a jumping wall clock', // row 17
  'a relay to an honest prover', // row 33
  'a relay that signs', // row 33
  'gone when the nonce is out', // row 34
  'a refusal when the nonce is out', // row 34
  'gone before the result', // row 34
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

async function verifyOverSsh(program: ProverProgram, options: object = {}): Promise<string> {
  const signal = new AbortController().signal
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
    return await outcomeOf(
      verifyBox(
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
      ),
    )
  } finally {
    await bridge.close()
  }
}

describe('a box that cheats over SSH', { timeout: 60_000 }, () => {
  const kit = () => ({ engine, clock: new RealTime(), chance: Math.random })

  test('row 16, an honest box with chatter on standard error is accepted', async () => {
    expect(await verifyOverSsh(honestProgram({ devices: honestDevices(kit()) }))).toBe('ACCEPTED')
  })

  const cheats = CHOSEN.map((name) => {
    const cheat = BOX_CHEATS.find((candidate) => candidate.name === name)
    if (cheat === undefined) throw new Error(`there is no cheat called "${name}" any more`)
    return [`row ${cheat.row}, ${cheat.name}: ${cheat.expected}`, cheat] as const
  })
  test.concurrent.each(cheats)('%s', async (_, cheat) => {
    expect(await verifyOverSsh(cheat.program(kit()), cheat.options)).toBe(cheat.expected)
  })
})
