import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, statfsSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test, vi } from 'vitest'
import type { VerifyJob } from '../src/apps/validator/fleet/fleet.ts'
import { runFleet } from '../src/apps/validator/fleet/runFleet.ts'
import { NOT_ATTESTED } from '../src/core/certificate/attestedRun.ts'
import { claimed, inferred } from '../src/core/params/provenance.ts'
import { openEmbedded } from '../src/drivers/store/openEmbedded.ts'
import { systemRandomness } from '../src/drivers/system/systemRandomness.ts'
import { testDeps, testRules } from './support/fleetKit.ts'
import { entry } from './support/storeFixtures.ts'
import { textOf } from './support/textOf.ts'

const mountSmall = (): string | null => {
  const folder = mkdtempSync(join(tmpdir(), 'touchstone-small-'))
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=160m', 'tmpfs', folder], { stdio: 'ignore' })
    return folder
  } catch {
    rmSync(folder, { recursive: true })
    return null
  }
}
const disk = process.platform === 'linux' && process.getuid?.() === 0 ? mountSmall() : null

/** Needs a disk that can be filled without harm: a small one in memory, which only root can mount. */
test.skipIf(disk === null)('a full disk stops nothing for good: with room again every result is there', async () => {
  const folder = disk!
  const room = () => {
    const { bavail, bsize } = statfsSync(folder)
    return bavail * bsize
  }
  const store = await openEmbedded({ folder: join(folder, 'data') })
  try {
    const ids = Array.from({ length: 60 }, (_, i) => `box-${i}`)
    for (const id of ids) await store.putBox(entry(id))
    writeFileSync(join(folder, 'ballast'), Buffer.alloc(room() - 1_500_000))
    const verify: VerifyJob = async ({ box }) => ({
      address: box.address,
      access: {},
      preset: 'tiny',
      proverKey: new Uint8Array(32),
      runId: systemRandomness.bytes(16),
      inventory: claimed({ program: 'sim', devices: [], host: {} }),
      judgement: {
        outcome: 'accepted',
        reason: null,
        catalogue: '',
        devices: [],
        count: { claimed: claimed(1), least: inferred(1), established: false, sentence: '' },
        scaling: null,
        claim: null,
      },
      roundTripSeconds: 0,
      telemetry: [],
      faults: [],
      gaveUp: false,
      cutShort: null,
      attested: NOT_ATTESTED,
      askedDevices: null,
      window: null,
      host: [],
      certificate: Buffer.from(systemRandomness.bytes(60_000)).toString('base64'),
      startedAt: new Date().toISOString(),
      seconds: 1,
    })
    const deps = testDeps(store, verify)
    const stop = new AbortController()
    const running = runFleet(deps, await testRules(), stop.signal)
    const down = () => deps.lines.some(({ message }) => message.includes('does not answer'))
    await vi.waitUntil(down, { timeout: 60_000, interval: 50 })
    rmSync(join(folder, 'ballast'))
    await vi.waitUntil(async () => (await store.queue().catch(() => ({ done: 0 }))).done === ids.length, {
      timeout: 60_000,
      interval: 100,
    })
    stop.abort()
    await running
    for (const id of ids) {
      const { items } = await store.history(id, { after: null, limit: 5 })
      expect(items.map(({ outcome }) => outcome)).toEqual(['accepted'])
      expect((await textOf(await store.certificate(items[0]!.runId!)))!.length).toBe(80_000)
    }
  } finally {
    await store.close()
    execFileSync('umount', [folder])
    rmSync(folder, { recursive: true })
  }
})
