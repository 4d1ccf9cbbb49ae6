import { expect, test } from 'vitest'
import { openInProcessBox, type ProverProgram } from '../../../test/support/inProcessBox.ts'
import { seededRandomness } from '../../../test/support/seededRandomness.ts'
import { testSigner } from '../../../test/support/testSigner.ts'
import { tinyTraining } from '../../../test/support/tinyTraining.ts'
import { VirtualClock } from '../../../test/support/virtualClock.ts'
import { WASM } from '../../../test/support/workProgram.ts'
import { patchRunner } from '../../core/work/runPatch.ts'
import { stateRoot } from '../../core/work/stateChain.ts'
import { tensorBytes } from '../../core/work/tensor.ts'
import { hasherOn } from '../../core/work/workEngine.ts'
import { EXACT_OPS } from '../../core/work/workOps.ts'
import { openExactEngine } from '../../drivers/gpu/cpu/work/openCpuWork.ts'
import type { WorkRun } from '../../ports/workDevice.ts'
import { serveWork } from './serveWork.ts'
import { watchReplicas } from './watchReplicas.ts'
import { watchWork } from './watchWork.ts'

const hasher = hasherOn(await openExactEngine(WASM))
const runPatch = patchRunner(await openExactEngine(WASM), EXACT_OPS)
const never = new AbortController().signal

/** States of 12 MB, of which every 24th is kept. */
const SEGMENTS = 2000
const large = { layers: 1, width: 256, heads: 2, keyHeads: 2, vocabulary: 4096 }
const SEGMENT_MS = 60_000
const training = (shards?: number) =>
  tinyTraining('gpt', SEGMENTS, hasher, { model: large, ...(shards ? { shards } : {}) })
const { work, given } = training()
const zeros = [...work.state].map(([name, shape]) => [name, new Uint8Array(tensorBytes(shape))] as const)
const tensors = new Map(zeros)
const root = stateRoot(zeros.map(([name, bytes]) => hasher.root(work.state.get(name)!, bytes)))

interface Device {
  readonly clock: VirtualClock
  /** How long it takes to come to a trace, where so many segments lie between the states it was told to keep. */
  traceMs(between: number): number
  readonly key?: number
  readonly other?: number
}

/** Takes its time and computes nothing: it is asked for no more than when its first trace is there. */
function device({ clock, traceMs, key = 7, other = -1 }: Device): ProverProgram {
  const kept: number[] = []
  const said = (segment: number) => (segment >= 0 && segment === other ? root.map((byte) => byte ^ 1) : root)
  const run: Partial<WorkRun> = {
    advance: async (segment) => {
      await clock.sleep(segment < 0 ? 1 : SEGMENT_MS)
      return { transition: segment + 1, root: said(segment), statistics: segment < 0 ? [] : [0, 0] }
    },
    keep: async (segment) => void kept.push(segment),
    read: async (name) => tensors.get(name)!,
    trace: async () => {
      await clock.sleep(traceMs((kept[1] ?? SEGMENTS) - kept[0]!))
      throw new Error('the trace was there in time')
    },
  }
  const slow = { name: 'a device', start: async () => run as WorkRun, close: async () => {} }
  const none = () => Promise.reject(new Error('no engine'))
  const engines = { openField: none, openExact: none }
  const server = { device: slow, signer: testSigner(key), randomness: seededRandomness(key), ...engines }
  return ({ input, write }) => serveWork({ ...server, input, write })
}

const watchOf = (clock: VirtualClock, shards?: number) => ({
  ...(shards ? training(shards) : { work, given }),
  ...{ hasher, runPatch, clock, randomness: seededRandomness(5), every: 0, segmentMs: 2 * SEGMENT_MS },
  ...{ onStep: () => {}, onState: () => {} },
})

async function whyNot(traceMs: Device['traceMs'], shards?: number): Promise<string> {
  const clock = new VirtualClock()
  const box = openInProcessBox(device({ clock, traceMs }))
  const watch = { ...watchOf(clock, shards), prover: await box.start(never) }
  return await watchWork(watch, never)
    .then(() => 'believed', String)
    .finally(() => box.close())
}

test('attack 510: whoever keeps every so many states has the time to come back from one to a trace', async () => {
  expect(await whyNot((between) => between * SEGMENT_MS)).toContain('the trace was there in time')
})

test('attack 510: several devices did it as one, and the first of them comes back alone', async () => {
  expect(await whyNot((between) => 8 * between * SEGMENT_MS, 4)).toContain('the trace was there in time')
})

test('nobody has the time of the whole work ten times over', async () => {
  expect(await whyNot(() => 10 * SEGMENTS * SEGMENT_MS)).toContain('it said nothing for too long (traced was due)')
})

test('attack 510: so has whoever is asked in a dispute', async () => {
  const clock = new VirtualClock()
  const traceMs = (between: number) => between * SEGMENT_MS
  const boxes = [7, 8].map((key) => openInProcessBox(device({ clock, traceMs, key, other: key === 8 ? 1000 : -1 })))
  const watches = await Promise.all(boxes.map(async (box) => ({ ...watchOf(clock), prover: await box.start(never) })))
  const { ends } = await watchReplicas(watches, async () => null, never)
  await Promise.all(boxes.map((box) => box.close()))
  for (const end of ends) expect('rejected' in end && end.rejected.message).toContain('the trace was there in time')
})
