import { beforeAll, describe, expect, test } from 'vitest'
import { shippedCatalogue } from '../../../test/sim/shippedCatalogue.ts'
import { inlineWalkChecker as walkChecker } from '../../../test/support/inlineWalkChecker.ts'
import { honestProgram } from '../../../test/support/inProcessBox.ts'
import { ReferenceDevice } from '../../../test/support/openReferenceDevice.ts'
import { seededRandomness } from '../../../test/support/seededRandomness.ts'
import { verifyInProcess } from '../../../test/support/verifyInProcess.ts'
import { VirtualClock } from '../../../test/support/virtualClock.ts'
import { VirtualLanes } from '../../../test/support/virtualLanes.ts'
import { concatBytes } from '../../core/bytes/bytes.ts'
import type { Catalogue } from '../../core/identify/catalogue.ts'
import { FASTEST_CARD_LANE, type HostPart } from '../../core/inventory/hostReport.ts'
import { MARK_BYTES, stepBytes } from '../../core/params/hostParts.ts'
import { claimed } from '../../core/params/provenance.ts'
import { hostShown } from '../../core/score/hostFacts.ts'
import { fault } from '../../drivers/host/faults.ts'
import type { StoreTask, WalkTask } from '../../ports/hostLanes.ts'
import { HostParts } from './hostParts.ts'

let catalogue: Catalogue
beforeAll(async () => {
  catalogue = await shippedCatalogue()
})

/** What is not judged by its speed is slow here: few steps, so that the test is short. */
const SLOW = 2e6
const CORE = 10.5e9
const speeds = (core: number) => (task: StoreTask) => (task.target === 'cpu' ? core : SLOW)
const fastCores = speeds(CORE)
const slow = speeds(200e6)

interface Box {
  readonly lanes: (clock: VirtualClock) => VirtualLanes
  readonly cores?: number
  /** How long one round of the cards takes. */
  readonly roundMs?: number
  readonly sustainedSeconds?: number
  readonly checker?: typeof walkChecker
}

async function hostOf(box: Box) {
  const [cpu, memory, disk] = (await reportOf(box)).host
  return { cpu: cpu!, memory: memory!, disk: disk! }
}

async function reportOf({ lanes, cores = 1, roundMs = 1000, sustainedSeconds = 20, checker = walkChecker }: Box) {
  const clock = new VirtualClock()
  const round = (signal: AbortSignal) => clock.sleep(roundMs, signal)
  const devices = [new ReferenceDevice({ costs: { round } }), new ReferenceDevice({ costs: { round } })]
  const inventory = { host: { cores, memoryBytes: 2 ** 24, diskFreeBytes: 2 ** 28 } }
  const program = honestProgram({ devices, inventory, host: lanes(clock) })
  const options = { sustainedSeconds }
  const report = await verifyInProcess({ program, catalogue, clock, walkChecker: checker, options })
  expect(report.judgement.reason).toBeNull()
  return report
}

const nothing = { source: null, bytesPerSec: 0, lanes: 0 }

describe('host parts', () => {
  test('attacks 75 and 76: cores are proven while every card is at work; memory and disk, for which others could stand in, are measured', async () => {
    const { cpu, memory, disk } = await hostOf({ lanes: (clock) => new VirtualLanes(clock, fastCores) })
    expect(cpu).toMatchObject({ part: 'cpu', source: 'proven', lanes: 1, of: 1, inWindow: true, problem: null })
    expect(cpu.bytesPerSec / CORE).toBeGreaterThan(0.9)
    expect(cpu.bytesPerSec / CORE).toBeLessThanOrEqual(1)
    for (const part of [memory, disk]) {
      expect(part).toMatchObject({ source: 'measured', problem: null, pastCache: true })
      expect(part.bytesPerSec / part.lanes / SLOW).toBeGreaterThan(0.8)
      expect(part.bytesPerSec / part.lanes / SLOW).toBeLessThanOrEqual(1)
    }
    expect(hostShown([cpu, memory, disk])).toMatchObject({
      cpuLookups: { source: 'proven' },
      ramBandwidth: { source: 'measured' },
      diskBandwidth: { source: 'measured' },
    })
  })

  test('attack 75: a card that walks the lanes is too slow in each, and is not called a CPU', async () => {
    const card = speeds(FASTEST_CARD_LANE / 6)
    const { cpu } = await hostOf({ lanes: (clock) => new VirtualLanes(clock, card), cores: 4 })
    expect(cpu).toMatchObject({ source: 'measured', inWindow: true })
    expect(hostShown([cpu]).cpuLookups?.source).toBe('measured')
  })

  test('attack 75: a lane cut into stretches that a card walks side by side has false marks', async () => {
    class Cut extends VirtualLanes {
      protected override lane(lane: number, marks: number): Uint8Array {
        // Two honest halves, the second from a place of its own.
        const [first, second] = [super.lane(lane, marks >> 1), super.lane(lane + 100, marks - (marks >> 1))]
        return concatBytes(first, second)
      }
    }
    const { cpu } = await hostOf({ lanes: (clock) => new Cut(clock, slow) })
    expect(cpu).toMatchObject({ ...nothing, problem: { code: 'HOST_WRONG_MARK' } })
    expect(hostShown([cpu])).toEqual({ cpuLookups: { source: 'measured', value: 0 } })
  })

  test('attack 75: outside the window in which every card is at work a CPU is measured, not proven', async () => {
    const late = await hostOf({ lanes: (clock) => new VirtualLanes(clock, fastCores), roundMs: 10 })
    const none = await hostOf({ lanes: (clock) => new VirtualLanes(clock, slow), sustainedSeconds: 0 })
    for (const { cpu } of [late, none]) expect(cpu).toMatchObject({ source: 'measured', inWindow: false })
    expect(late.cpu.bytesPerSec).toBeGreaterThan(FASTEST_CARD_LANE)
  })

  test('attack 101: a box whose neighbour has the same processor cannot choose when its lanes are walked', async () => {
    const walksUs: number[] = []
    class Later extends VirtualLanes {
      override async walk(task: WalkTask): Promise<void> {
        if (this.stored!.target === 'cpu') walksUs.push(this.clock.monotonicUs())
        await super.walk(task)
      }
      override async halt(): Promise<readonly Uint8Array[]> {
        const marks = await super.halt()
        if (walksUs.length < 3) await this.clock.sleep(3000)
        return marks
      }
    }
    const { host, window } = await reportOf({ lanes: (clock) => new Later(clock, fastCores) })
    const sustained = 1 // after int8, the one precision of these runs
    expect(walksUs.at(-1)! - window!.startedUs[sustained]!).toBeLessThan(100_000)
    // Who is slow to size its walk is asked for small steps, and shows little.
    expect(host[0]).toMatchObject({ source: 'measured', inWindow: true })
  })

  test('attack 166: a box that walks when its neighbour on the same processor is done shows no processor of its own', async () => {
    const fast = 15e9
    /** Waits until the walk of the neighbour is over, and hands its marks over when it has made as many as it can. */
    class Later extends VirtualLanes {
      #walks = 0
      override async walk(task: WalkTask): Promise<void> {
        await super.walk(task)
        if (++this.#walks === 3) this.walking = { ...this.walking!, fromUs: this.walking!.fromUs + 800_000 }
      }
      override async halt(): Promise<readonly Uint8Array[]> {
        if (this.#walks === 3) await this.clock.sleep(3200)
        return await super.halt()
      }
      protected override lane(_lane: number, marks: number): Uint8Array {
        return new Uint8Array(marks * MARK_BYTES)
      }
    }
    // All of its marks are right, whatever they are here: they would take seconds of lookups.
    const checker = { ...walkChecker, check: async () => null }
    const { cpu } = await hostOf({ lanes: (clock) => new Later(clock, speeds(fast)), checker, roundMs: 5000 })
    expect(cpu.bytesPerSec / fast).toBeGreaterThan(0.7)
    expect(cpu).toMatchObject({ source: 'measured', inWindow: false })
  })

  test('attack 462: who lies in the trials, which nobody checks, to have long stretches and few of them drawn, has as many drawn or proves nothing', async () => {
    const core = 13.5e9
    const cores = 64
    /** What `lanes` of its own show, said to be more in both trials. */
    const boasting = (trialMarks: number) =>
      class extends VirtualLanes {
        #walks = 0
        override async walk(task: WalkTask): Promise<void> {
          this.#walks++
          await super.walk(task)
        }
        protected override lane(_lane: number, marks: number): Uint8Array {
          const said = this.#walks <= 2 && this.stored!.target === 'cpu' ? trialMarks : marks
          return new Uint8Array(said * MARK_BYTES)
        }
      }
    const shownBy = async (trialMarks: number) => {
      let drawn = 0
      const checker: typeof walkChecker = {
        check: async (stretches) => {
          if (stretches[0]?.target === 'cpu') drawn = stretches.length
          return null
        },
      }
      const Boasting = boasting(trialMarks)
      const { cpu } = await hostOf({ lanes: (clock) => new Boasting(clock, speeds(core)), cores, checker })
      return { drawn, source: cpu.source }
    }
    const honest = Math.floor((0.1 * core) / (4 * stepBytes('cpu')))
    expect(await shownBy(honest)).toEqual({ drawn: 64, source: 'proven' })
    expect(await shownBy(Math.floor(1.5 * honest))).toEqual({ drawn: 64, source: 'proven' })
    expect(await shownBy(3 * honest)).toEqual({ drawn: 8, source: 'measured' })
  })

  test('attack 462: marks that lay there before they were asked for, unread, are of the whole walk', async () => {
    const clock = new VirtualClock()
    const marks = new Uint8Array(16 * MARK_BYTES)
    const strides: number[] = []
    const session = {
      send: async ({ stride }: { readonly stride: number }) => {
        strides.push(stride)
        return clock.monotonicUs()
      },
      askHost: async ({ type }: { readonly type: string }) =>
        type === 'halt'
          ? { answer: { type: 'walked', lanes: [marks] }, atUs: 1 }
          : { answer: { type: 'stored', pastCache: true }, atUs: 1 },
    }
    const randomness = seededRandomness(1)
    const line = { session: session as never, clock, randomness, signal: new AbortController().signal }
    const parts = new HostParts({ ...line, checker: { check: async () => null }, host: { cores: claimed(1) } })
    await parts.prepare()
    const [cpu] = await parts.check((await parts.collect()).slice(0, 1))
    // Two trials of 0.1 s, then 0.8 s.
    expect(strides.slice(0, 3)).toEqual([4, 4, (16 * 4 * 8) / 16])
    expect(cpu!.bytesPerSec).toBe((16 * strides[2]! * stepBytes('cpu')) / 0.8)
  })

  test('attack 76: a disk that is not there cannot say what is on it, and its claims do not step in', async () => {
    class NoDisk extends VirtualLanes {
      protected override lane(lane: number, marks: number): Uint8Array {
        if (this.stored!.target !== 'disk') return super.lane(lane, marks)
        return seededRandomness(lane).bytes(marks * MARK_BYTES)
      }
    }
    const { memory, disk } = await hostOf({ lanes: (clock) => new NoDisk(clock, slow) })
    expect(disk).toMatchObject({ ...nothing, problem: { code: 'HOST_WRONG_MARK' } })
    expect(memory.source).toBe('measured')
    expect(hostShown([disk])).toEqual({ diskBandwidth: { source: 'measured', value: 0 } })
  })

  test('a box that refuses, is silent or answers something else has no host to show, and its cards have their verdict', async () => {
    const full = fault('HOST_NO_ROOM', { what: 'a room' })
    class Refuses extends VirtualLanes {
      override async store(): Promise<{ readonly pastCache: boolean }> {
        throw full
      }
    }
    class Silent extends VirtualLanes {
      override halt(): Promise<readonly Uint8Array[]> {
        return new Promise(() => {})
      }
    }
    class Fewer extends VirtualLanes {
      override async halt(): Promise<readonly Uint8Array[]> {
        return [...(await super.halt()), new Uint8Array(0)]
      }
    }
    const codes = async (Lanes: typeof VirtualLanes) => {
      const parts = await hostOf({ lanes: (clock) => new Lanes(clock, slow) })
      return Object.values(parts).map(({ problem }: HostPart) => problem?.code)
    }
    expect(await codes(Refuses)).toEqual(['HOST_NO_ROOM', 'HOST_NO_ROOM', 'HOST_NO_ROOM'])
    expect(new Set(await codes(Silent))).toEqual(new Set(['HOST_SILENT']))
    expect(new Set(await codes(Fewer))).toEqual(new Set(['HOST_WRONG_ANSWER']))
  })
})
