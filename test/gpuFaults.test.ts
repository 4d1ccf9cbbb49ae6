import { beforeAll, describe, expect, test } from 'vitest'
import { inventoryOf } from '../src/apps/prover/inventoryOf.ts'
import type { Catalogue } from '../src/core/identify/catalogue.ts'
import type { TileEngine } from '../src/core/proof/tileEngine.ts'
import { openCudaDevices } from '../src/drivers/gpu/cuda/openCudaDevices.ts'
import { systemClock } from '../src/drivers/system/systemClock.ts'
import { exitOfReport } from '../src/main/exitCodes.ts'
import type { Device, SeriesTask } from '../src/ports/device.ts'
import type { TouchstoneError } from '../src/ports/errors.ts'
import { shippedCatalogue } from './sim/shippedCatalogue.ts'
import { useFakeCards } from './support/fakeCards.ts'
import { fakeNvml } from './support/fakeNvml.ts'
import { honestProgram } from './support/inProcessBox.ts'
import { problemOf } from './support/problemOf.ts'
import { testEngine } from './support/testEngine.ts'
import { verifyInProcess } from './support/verifyInProcess.ts'

const cards = useFakeCards()
const never = new AbortController().signal
const task: SeriesTask = { kind: 'rounds', precision: 'int8', m: 64, n: 64, k: 64, rounds: 2, seed: new Uint8Array(32) }
const both = { ordinals: [0, 1] }

let catalogue: Catalogue
let engine: TileEngine
beforeAll(async () => {
  catalogue = await shippedCatalogue()
  engine = await testEngine()
})

async function faultOf(work: Promise<unknown>): Promise<TouchstoneError> {
  return await work.then(
    () => expect.unreachable(),
    (error) => error,
  )
}

/** Every fault of a card: its code, which card, what to do, and whose it is. */
function expectFault(fault: TouchstoneError, code: string, card: number): void {
  expect(fault).toMatchObject({ detail: { code }, blame: 'prover', message: expect.stringContaining(`card ${card}`) })
  expect(fault.nextStep).not.toBe('')
}

const rootsOf = async (device: Device): Promise<number> => {
  let roots = 0
  await device.runSeries(task, () => void roots++, never)
  return roots
}
const closeAll = (devices: readonly Device[]) => Promise.all(devices.map((device) => device.close()))

describe('a card that cannot be opened', () => {
  const FAILING = [
    ['cuDevicePrimaryCtxRetain', 46, 'GPU_BUSY'],
    ['cuDevicePrimaryCtxRetain', 803, 'GPU_DRIVER_MISMATCH'],
    ['cuDevicePrimaryCtxRetain', 2, 'OUT_OF_MEMORY'],
    ['cuStreamCreate', 2, 'OUT_OF_MEMORY'],
  ] as const

  test.each(FAILING)('because %s answers %i is a fault, and holds nothing: %s', async (call, status, code) => {
    cards.trouble({ failing: { [call]: status } })
    expectFault(await faultOf(cards.open()), code, 0)
    expect(cards.contexts()).toBe(0)
  })

  test('is named, and the other one works', async () => {
    cards.trouble({ card: 1, failing: { cuDevicePrimaryCtxRetain: 46 } })
    const faults: unknown[] = []
    const devices = await cards.open({ ...both, onFailure: (fault) => faults.push(fault) })
    expect(devices.map(({ facts }) => facts.details.ordinal)).toEqual([0])
    expectFault(faults[0] as TouchstoneError, 'GPU_BUSY', 1)
    const { host } = inventoryOf({ program: '', devices: [], host: {}, faults })
    expect(host).toEqual({ gpuFaults: 'card 1 (NVIDIA Fake): GPU_BUSY' })
    expect(await rootsOf(devices[0]!)).toBe(2)
    await closeAll(devices)
  })

  test('closes the other one again where nobody wants to go on without it', async () => {
    cards.trouble({ card: 1, failing: { cuDevicePrimaryCtxRetain: 46 } })
    expectFault(await faultOf(cards.open(both)), 'GPU_BUSY', 1)
    expect(cards.contexts()).toBe(0)
  })

  test('because its thread dies is a lost card', async () => {
    const workerScript = new URL(`data:text/javascript,${encodeURIComponent('throw new Error("gone")')}`)
    expectFault(await faultOf(openCudaDevices({ ordinals: [3], workerScript, nvml: null })), 'GPU_LOST', 3)
  })
})

describe('a card that fails in mid-run', () => {
  test.each([
    ['cuModuleLoadData', 222, 'GPU_KERNEL_REFUSED'],
    ['cuGraphLaunch', 719, 'GPU_LOST'],
    ['cuStreamSynchronize', 700, 'GPU_LOST'],
    ['cuMemAlloc', 2, 'OUT_OF_MEMORY'],
  ])('because %s answers %i is a fault; its neighbour goes on: %s', async (call, status, code) => {
    cards.trouble({ card: 1, failing: { [call]: status } })
    const devices = await cards.open(both)
    const [roots, fault] = await Promise.all([rootsOf(devices[0]!), faultOf(rootsOf(devices[1]!))])
    expectFault(fault, code, 1)
    expect(fault.detail).toMatchObject({ call, status, card: 'card 1 (NVIDIA Fake)' })
    expect(roots).toBe(2)
    await closeAll(devices)
    expect(cards.contexts()).toBe(0)
  })

  test('and cannot even free its memory gives its context back', async () => {
    cards.trouble({ failing: { cuGraphLaunch: 719, cuMemFree: 719 }, after: { cuMemFree: 1 } })
    const device = await cards.openOne()
    expectFault(await faultOf(rootsOf(device)), 'GPU_LOST', 0)
    await device.close()
    expect(cards.contexts()).toBe(0)
  })

  test.each([
    [719, 'GPU_LOST'],
    [999, 'GPU_CALL_FAILED'],
  ])('with status %i is told with the driver error NVML heard of it', async (status, code) => {
    cards.trouble({ failing: { cuGraphLaunch: status } })
    const nvml = fakeNvml()
    const device = await cards.openOne({ nvml })
    nvml.pending.push(79)
    const fault = await faultOf(rootsOf(device))
    expectFault(fault, code, 0)
    expect(fault.detail).toMatchObject({ xid: '79' })
    expect(fault.message).toMatch(/; the driver reported Xid 79 \(the card fell off the bus\)$/)
    expect(await device.telemetry!()).toMatchObject({ xid: '79' })
    await device.close()
    expect(nvml.sets).toBe(0)
  })

  test('past its deadline ends with the deadline; one that does not stop is given up, its neighbour is not', async () => {
    cards.trouble({ card: 1, hung: true })
    const devices = await cards.open({ ...both, stopMs: 20 })
    const work = devices[1]!.runSeries(task, () => {}, AbortSignal.timeout(20))
    await expect(work).rejects.toMatchObject({ name: 'TimeoutError' })
    expectFault(await faultOf(rootsOf(devices[1]!)), 'GPU_LOST', 1)
    expect(await rootsOf(devices[0]!)).toBe(2)
    await closeAll(devices)
  })
})

test('attack 494: two cards that cannot read one another are verified without a link between them', async () => {
  cards.trouble({ apart: true })
  const devices = await cards.open(both)
  const options = { precisions: ['int8'], memory: true } as const
  const given = { program: honestProgram({ devices }), catalogue, engine, clock: systemClock, options }
  const { judgement, faults, inventory, certificate } = await verifyInProcess(given)
  expect(inventory.devices.map(({ details }) => details.peers)).toEqual([false, false])
  expect(judgement).toMatchObject({ outcome: 'accepted', devices: [{ linkPerSecond: null }, { linkPerSecond: null }] })
  expect(faults).toEqual([])
  expect(await problemOf(certificate, { engine, catalogue })).toBe(null)
  await closeAll(devices)
})

describe('verifying two cards of which one is lost in mid-run', () => {
  test('finishes for the other, names the first, and ends with 3', async () => {
    cards.trouble({ card: 1, failing: { cuGraphLaunch: 719 }, after: { cuGraphLaunch: 5 } })
    const nvml = fakeNvml()
    const before = cards.contexts()
    const devices = await cards.open({ ...both, nvml })
    nvml.pending.push(74)
    const options = { precisions: ['int8', 'bf16'], memory: true } as const
    const given = { program: honestProgram({ devices }), catalogue, engine, clock: systemClock, options }
    const report = await verifyInProcess(given)
    const { judgement, faults, inventory, certificate } = report
    expect(judgement).toMatchObject({ outcome: 'accepted', devices: [{ device: 0 }] })
    expect(inventory.devices.map(({ details }) => details.ordinal)).toEqual([0])
    expect(faults).toHaveLength(1)
    expect(faults[0]!.code).toBe('GPU_LOST')
    expect(faults[0]!.text).toMatch(/^card 1 \(NVIDIA Fake\): the card stopped working: .*Xid 74 .*reset or replace/)
    expect(exitOfReport(report, faults.length)).toBe(3)
    expect(await problemOf(certificate, { engine, catalogue })).toBe(null)
    await closeAll(devices)
    expect(cards.contexts()).toBe(before)
  })
})
