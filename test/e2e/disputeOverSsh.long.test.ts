import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { serveWork } from '../../src/apps/work/serveWork.ts'
import { watchReplicas } from '../../src/apps/work/watchReplicas.ts'
import { patchRunner } from '../../src/core/work/runPatch.ts'
import { hasherOn } from '../../src/core/work/workEngine.ts'
import { EXACT_OPS } from '../../src/core/work/workOps.ts'
import { openCpuWork, openExactEngine, openFieldEngine } from '../../src/drivers/gpu/cpu/work/openCpuWork.ts'
import { connectSsh } from '../../src/drivers/remote/ssh/connectSsh.ts'
import { systemClock } from '../../src/drivers/system/systemClock.ts'
import { systemRandomness } from '../../src/drivers/system/systemRandomness.ts'
import type { WorkDevice } from '../../src/ports/workDevice.ts'
import { bridgeTo, makeBridgeRelease } from '../support/bridgedProgram.ts'
import type { ProverProgram } from '../support/inProcessBox.ts'
import { keyPair } from '../support/keyPair.ts'
import { lyingStart } from '../support/lyingDevice.ts'
import { startOpenSsh, whyNoOpenSsh } from '../support/openSshServer.ts'
import { startSshServer } from '../support/sshServer.ts'
import { testSigner } from '../support/testSigner.ts'
import { tinyTraining } from '../support/tinyTraining.ts'

const never = new AbortController().signal

const program =
  (key: number, start?: WorkDevice['start']): ProverProgram =>
  async ({ input, write }) => {
    const device = await openCpuWork()
    const signer = testSigner(key)
    const own = start ? { ...device, start } : device
    const engines = { openField: openFieldEngine, openExact: openExactEngine }
    await serveWork({ device: own, signer, randomness: systemRandomness, ...engines, input, write })
  }

test('two boxes that differ are asked over SSH for one patch, and the one that lied is named', async () => {
  const root = mkdtempSync(join(tmpdir(), 'touchstone-dispute-ssh-'))
  const [host, user] = [keyPair(), keyPair()]
  const home = join(root, 'home')
  mkdirSync(home)
  const server =
    whyNoOpenSsh() === null
      ? await startOpenSsh({ folder: join(root, 'sshd'), home, hostKey: host.private, authorizedKeys: user.public })
      : await startSshServer({ home, user: 'renter', hostKey: host.private, authorizedKey: user.public })
  const release = makeBridgeRelease(join(root, 'release'))
  const bridges = await Promise.all([bridgeTo(program(7)), bridgeTo(program(9, lyingStart(5)))])
  const boxes = await Promise.all(
    bridges.map(({ port }) => {
      const ssh = {
        auth: { privateKey: user.private },
        ...{ knownHostsFiles: [], ownKnownHostsFile: join(root, 'known_hosts'), onFirstUse: () => true },
        flavours: [{ directory: release, machine: 'any', carriesNode: false }],
        ...{ keep: true, proverArguments: [String(port)], graceMs: 100 },
      }
      return connectSsh(`ssh://${server.user}@127.0.0.1:${server.port}`, ssh, never)
    }),
  )
  try {
    const hasher = hasherOn(await openExactEngine())
    const { work, given } = tinyTraining('gpt', 8, hasher)
    const runPatch = patchRunner(await openExactEngine(), EXACT_OPS)
    const provers = []
    for (const box of boxes) {
      await box.install(never)
      provers.push(await box.start(never))
    }
    const ours = { work, given, hasher, runPatch, clock: systemClock, randomness: systemRandomness, every: 0 }
    const quiet = { segmentMs: 60_000, onStep: () => {}, onState: () => {} }
    const { ends, disputes } = await watchReplicas(
      provers.map((prover) => ({ ...ours, ...quiet, prover })),
      async () => null,
      never,
    )
    expect(disputes).toMatchObject([{ wrong: 'second', segment: 4, op: 'quantise', between: [0, 1] }])
    expect(disputes[0]!.rounds).toBeLessThanOrEqual(12)
    expect(ends).toMatchObject([{ shown: {} }, { rejected: { code: 'DISPUTE_LOST' } }])
  } finally {
    for (const box of boxes) await box.close()
    for (const bridge of bridges) await bridge.close()
    await server.close()
    rmSync(root, { recursive: true, force: true })
  }
}, 120_000)
