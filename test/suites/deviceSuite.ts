import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { toHex } from '../../src/core/bytes/hex.ts'
import { PRECISION_NAMES } from '../../src/core/params/precision.ts'
import { JointPasses } from '../../src/core/proof/jointPasses.ts'
import type { Device, FillTask, LeafPosition, OnRoot, SeriesTask } from '../../src/ports/device.ts'
import { TouchstoneError } from '../../src/ports/errors.ts'
import { expectedFill, expectedJointPasses, expectedPasses, expectedSeries } from '../support/referenceDevice.ts'

export interface DeviceSuiteOptions {
  open(): Promise<Device>
  /** Why the suite cannot run here; null runs it. */
  readonly skip?: string | null
  /** Sizes the driver refuses beside those no device may take. */
  readonly refused?: readonly Partial<SeriesTask>[]
}

const bytes = (fill: number) => Uint8Array.from({ length: 32 }, (_, i) => (i * 37 + fill * 101 + 13) & 0xff)
const never = new AbortController().signal
const hexes = (roots: readonly Uint8Array[]) => roots.map(toHex)

const seriesTask = (change: Partial<SeriesTask> = {}): SeriesTask => ({
  kind: 'rounds',
  precision: 'int8',
  m: 64,
  n: 128,
  k: 64,
  rounds: 3,
  seed: bytes(1),
  ...change,
})

const fillTask = (change: Partial<FillTask> = {}): FillTask => ({
  m: 64,
  n: 64,
  k: 64,
  kept: 3,
  seed: bytes(2),
  ...change,
})

/** Repeats and every corner: what a query may draw. */
const asked = (rounds: number, tiles: number): LeafPosition[] =>
  [0, rounds - 1, 0, Math.floor(rounds / 2)].flatMap((round) => [
    { round, tile: 0 },
    { round, tile: tiles - 1 },
    { round, tile: Math.floor(tiles / 3) },
  ])

/** One suite for the Device port: whatever passes it can stand in for any other device. */
export function deviceSuite(name: string, { open, skip = null, refused = [] }: DeviceSuiteOptions): void {
  describe.skipIf(skip !== null)(`${name} is a Device${skip === null ? '' : ` (skipped: ${skip})`}`, () => {
    let device: Device
    let peer: Device
    beforeAll(async () => {
      device = await open()
      peer = await open()
    })
    afterAll(async () => {
      await device?.close()
      await peer?.close()
    })

    const roots = async (run: (onRoot: OnRoot) => Promise<void>): Promise<Uint8Array[]> => {
      const all: Uint8Array[] = []
      await run((root) => all.push(root))
      return all
    }
    const seriesOf = (task: SeriesTask) => roots((onRoot) => device.runSeries(task, onRoot, never))
    const fault = async (work: Promise<unknown>): Promise<TouchstoneError> => {
      const caught = await work.then(
        () => null,
        (cause: unknown) => cause,
      )
      expect(caught).toBeInstanceOf(TouchstoneError)
      return caught as TouchstoneError
    }

    test('says what it is', () => {
      const { facts } = device
      expect(facts.name).toMatch(/^[\x20-\x7e]+$/)
      expect(facts.memoryBytes).toBeGreaterThan(0)
      expect(facts.freeBytes).toBeGreaterThan(0)
      expect(facts.freeBytes).toBeLessThanOrEqual(facts.memoryBytes)
      expect(facts.precisions.length).toBeGreaterThan(0)
      expect(facts.precisions.filter((precision) => !PRECISION_NAMES.includes(precision))).toEqual([])
    })

    test.each(PRECISION_NAMES)('§4.2, §5 a series of %s equals the reference, roots and paths', async (precision) => {
      if (!device.facts.precisions.includes(precision)) return
      const task = seriesTask({ precision })
      const expected = expectedSeries(task)
      expect(hexes(await seriesOf(task))).toEqual(hexes(expected.roots))
      const positions = asked(task.rounds, 8)
      expect(toHex(await device.openSeries(positions, never))).toBe(toHex(expected.paths(positions)))
    })

    test('§8 a bind series equals the reference, roots and paths', async () => {
      const task = seriesTask({ kind: 'bind', m: 128, rounds: 2 })
      const expected = expectedSeries(task)
      expect(hexes(await seriesOf(task))).toEqual(hexes(expected.roots))
      const positions = asked(task.rounds, 16)
      expect(toHex(await device.openSeries(positions, never))).toBe(toHex(expected.paths(positions)))
    })

    test('§5 other shapes equal the reference: deeper k, more tiles', async () => {
      for (const shape of [
        { m: 64, n: 64, k: 1024, rounds: 1 },
        { m: 256, n: 64, k: 64, rounds: 2 },
      ])
        expect(hexes(await seriesOf(seriesTask(shape)))).toEqual(hexes(expectedSeries(seriesTask(shape)).roots))
    })

    test.each([1, 2, 3])('§7 %i kept rounds and passes over them equal the reference', async (kept) => {
      const task = fillTask({ kept })
      const expected = expectedFill(task)
      const made = await roots((onRoot) => device.fill(task, onRoot, never))
      expect(hexes(made)).toEqual(hexes(expected.roots))
      const passTask = { passes: 3, start: bytes(7) }
      const passes = expectedPasses(task, expected, passTask)
      const q = await roots((onRoot) => device.runPasses(passTask, onRoot, never))
      expect(hexes(q)).toEqual(hexes(passes.roots))
      const positions = asked(passTask.passes, 4 * kept)
      expect(toHex(await device.openPasses(positions, never))).toBe(toHex(passes.paths(positions)))
    })

    test('§8 link passes take partners from the peer, and the fill outlives them', async () => {
      const [own, other] = [fillTask({ kept: 2 }), fillTask({ kept: 3, seed: bytes(3) })]
      await device.fill(own, () => {}, never)
      await peer.fill(other, () => {}, never)
      const start = bytes(8)
      const [mine, theirs] = [expectedFill(own), expectedFill(other)]
      const expected = expectedPasses(own, mine, { passes: 2, start, peer: theirs })
      const q = await roots((onRoot) => device.runPasses({ passes: 2, start, peer }, onRoot, never))
      expect(hexes(q)).toEqual(hexes(expected.roots))
      const positions = asked(2, 8)
      expect(toHex(await device.openPasses(positions, never))).toBe(toHex(expected.paths(positions)))
      const again = expectedPasses(own, mine, { passes: 1, start: bytes(9) })
      const alone = await roots((onRoot) => device.runPasses({ passes: 1, start: bytes(9) }, onRoot, never))
      expect(hexes(alone)).toEqual(hexes(again.roots))
    })

    test('attack 465: passes of several devices follow from each other, roots and paths', async () => {
      const tasks = [fillTask({ kept: 2 }), fillTask({ kept: 3, seed: bytes(3) })]
      const both = [device, peer]
      await Promise.all(both.map((one, i) => one.fill(tasks[i]!, () => {}, never)))
      const start = bytes(8)
      const expected = expectedJointPasses(
        tasks.map((task) => ({ task, fill: expectedFill(task) })),
        { passes: 4, start },
      )
      const joint = new JointPasses(2)
      const q = await Promise.all(
        both.map((one, place) =>
          roots((onRoot) => one.runPasses({ passes: 4, start, joint: { passes: joint, place } }, onRoot, never)),
        ),
      )
      expect(q.map(hexes)).toEqual(expected.map((one) => hexes(one.roots)))
      for (const [i, one] of both.entries()) {
        const positions = asked(4, 4 * tasks[i]!.kept)
        expect(toHex(await one.openPasses(positions, never))).toBe(toHex(expected[i]!.paths(positions)))
      }
    })

    test('attack 514: several devices open at once what each has made, series and passes', async () => {
      const both = [device, peer]
      const tasks = both.map((_, i) => seriesTask({ seed: bytes(20 + i), rounds: 3 + i }))
      await Promise.all(both.map((one, i) => one.runSeries(tasks[i]!, () => {}, never)))
      const ofSeries = tasks.map(({ rounds }) => asked(rounds, 8))
      const series = await Promise.all(both.map((one, i) => one.openSeries(ofSeries[i]!, never)))
      expect(series.map(toHex)).toEqual(tasks.map((task, i) => toHex(expectedSeries(task).paths(ofSeries[i]!))))
      const fills = both.map((_, i) => fillTask({ kept: 2 + i, seed: bytes(22 + i) }))
      const passTask = { passes: 3, start: bytes(24) }
      await Promise.all(both.map((one, i) => one.fill(fills[i]!, () => {}, never)))
      await Promise.all(both.map((one) => one.runPasses(passTask, () => {}, never)))
      const ofPasses = fills.map(({ kept }) => asked(3, 4 * kept))
      const passes = await Promise.all(both.map((one, i) => one.openPasses(ofPasses[i]!, never)))
      const expected = fills.map((task) => expectedPasses(task, expectedFill(task), passTask))
      expect(passes.map(toHex)).toEqual(expected.map((one, i) => toHex(one.paths(ofPasses[i]!))))
    })

    test('behavior: who waits for a pass of another device that does not come can be stopped, and is usable then', async () => {
      const task = fillTask({ kept: 2 })
      await device.fill(task, () => {}, never)
      const controller = new AbortController()
      const joint = { passes: new JointPasses(2), place: 0 }
      const made: Uint8Array[] = []
      const work = device.runPasses(
        { passes: 3, start: bytes(8), joint },
        (root) => {
          made.push(root)
          setTimeout(() => controller.abort(new Error('enough')), 20)
        },
        controller.signal,
      )
      await expect(work).rejects.toThrow('enough')
      expect(made).toHaveLength(1)
      const again = await roots((onRoot) => device.runPasses({ passes: 1, start: bytes(9) }, onRoot, never))
      expect(hexes(again)).toEqual(
        hexes(expectedPasses(task, expectedFill(task), { passes: 1, start: bytes(9) }).roots),
      )
    })

    test('behavior: an aborted series rejects with the reason and leaves the device usable', async () => {
      const controller = new AbortController()
      const reason = new Error('the validator went away')
      let seen = 0
      const work = device.runSeries(
        seriesTask({ rounds: 1_000_000 }),
        () => {
          if (++seen === 2) controller.abort(reason)
        },
        controller.signal,
      )
      await expect(work).rejects.toBe(reason)
      expect(seen).toBe(2)
      expect(hexes(await seriesOf(seriesTask()))).toEqual(hexes(expectedSeries(seriesTask()).roots))
    })

    test('behavior: a signal aborted before the start runs nothing', async () => {
      const reason = new Error('too late')
      const work = device.runSeries(seriesTask(), () => expect.unreachable(), AbortSignal.abort(reason))
      await expect(work).rejects.toBe(reason)
    })

    test('behavior: what a listener throws ends the series and comes out', async () => {
      const thrown = new Error('the wire is gone')
      const work = device.runSeries(
        seriesTask({ rounds: 1_000_000 }),
        () => {
          throw thrown
        },
        never,
      )
      await expect(work).rejects.toBe(thrown)
    })

    test('behavior: one thing at a time', async () => {
      const controller = new AbortController()
      const first = device.runSeries(seriesTask({ rounds: 1_000_000 }), () => {}, controller.signal)
      const { detail } = await fault(device.runSeries(seriesTask(), () => {}, never))
      expect(detail.code).toBe('DEVICE_BUSY')
      controller.abort()
      await expect(first).rejects.toThrow()
    })

    test('behavior: after release nothing can be opened, and the device works on', async () => {
      await seriesOf(seriesTask())
      await device.fill(fillTask(), () => {}, never)
      await device.release()
      expect((await fault(device.openSeries([{ round: 0, tile: 0 }], never))).detail.code).toBe('NOTHING_TO_OPEN')
      expect((await fault(device.openPasses([{ round: 0, tile: 0 }], never))).detail.code).toBe('NOTHING_TO_OPEN')
      const passes = device.runPasses({ passes: 1, start: bytes(1) }, () => {}, never)
      expect((await fault(passes)).detail.code).toBe('NO_FILL')
      expect(hexes(await seriesOf(seriesTask()))).toEqual(hexes(expectedSeries(seriesTask()).roots))
    })

    test.each<Partial<SeriesTask>>([
      { m: 48 },
      { n: 0 },
      { n: 65536 },
      { k: 65536 },
      { k: 16 },
      { rounds: 0 },
      { seed: new Uint8Array(31) },
      ...refused,
    ])('behavior: refuses %o with a size fault', async (wrong) => {
      const { detail, nextStep } = await fault(device.runSeries(seriesTask(wrong), () => expect.unreachable(), never))
      expect(['SIZE_REFUSED', 'OUT_OF_MEMORY']).toContain(detail.code)
      expect(nextStep).not.toBe('')
    })

    test('behavior: refuses openings outside the series', async () => {
      await seriesOf(seriesTask({ rounds: 2 }))
      expect((await fault(device.openSeries([{ round: 2, tile: 0 }], never))).detail.code).toBe('SIZE_REFUSED')
      expect((await fault(device.openSeries([{ round: 0, tile: 8 }], never))).detail.code).toBe('SIZE_REFUSED')
    })
  })
}
