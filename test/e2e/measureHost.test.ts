import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { openHostLanes } from '../../src/drivers/host/openHostLanes.ts'
import { openWalkChecker } from '../../src/drivers/host/openWalkChecker.ts'
import { systemClock } from '../../src/drivers/system/systemClock.ts'
import type { Clock } from '../../src/ports/clock.ts'
import { shippedCatalogue } from '../sim/shippedCatalogue.ts'
import { honestProgram } from '../support/inProcessBox.ts'
import { ReferenceDevice } from '../support/openReferenceDevice.ts'
import { verifyInProcess } from '../support/verifyInProcess.ts'

/** Real lanes in threads, a real file, real time, but half of it; sizes are small because the box says that it has little. */
test('attacks 75 and 76: processor, memory and disk of this machine are measured beside an honest run', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'touchstone-host-'))
  const walkChecker = openWalkChecker(2)
  const inventory = { host: { cores: 1, memoryBytes: 2 ** 26, diskFreeBytes: 2 ** 30 } }
  const program = (host = {}) => honestProgram({ devices: [new ReferenceDevice()], inventory, ...host })
  const clock: Clock = { ...systemClock, sleep: (ms, signal) => systemClock.sleep(ms / 2, signal) }
  const run = { catalogue: await shippedCatalogue(), clock }
  try {
    const host = openHostLanes(folder)
    const report = await verifyInProcess({ ...run, program: program({ host }), walkChecker })
    expect(report.judgement.reason).toBeNull()
    expect(report.host.map(({ part, source, problem }) => [part, source, problem])).toEqual([
      ['cpu', 'measured', null],
      ['memory', 'measured', null],
      ['disk', 'measured', null],
    ])
    // A disk that others write to may stand still for so long: that it makes marks is promised by openHostLanes.test.ts.
    for (const { bytesPerSec } of report.host.slice(0, 2)) expect(bytesPerSec).toBeGreaterThan(1e6)
    expect(readdirSync(folder)).toEqual([])
    // Who does not ask does not wait, and who was not started for it says so.
    expect((await verifyInProcess({ ...run, program: program() })).host).toEqual([])
    const without = await verifyInProcess({ ...run, program: program(), walkChecker })
    expect(without.host.map(({ problem }) => problem?.code)).toEqual(Array(3).fill('HOST_NOT_OFFERED'))
  } finally {
    await walkChecker.close()
    rmSync(folder, { recursive: true, force: true })
  }
})
