import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { fakeWorkDriver } from '../../../test/support/fakeWorkCard.ts'
import { type Family, tinyTraining } from '../../../test/support/tinyTraining.ts'
import { toHex } from '../../core/bytes/hex.ts'
import { sha256 } from '../../core/bytes/sha256.ts'
import { checkReceipt } from '../../core/work/checkReceipt.ts'
import { EngineRun } from '../../core/work/engineRun.ts'
import { floatOf } from '../../core/work/ops/shapes.ts'
import { proveWork } from '../../core/work/proveWork.ts'
import { patchRunner } from '../../core/work/runPatch.ts'
import { shardsIn, splitShards } from '../../core/work/shards.ts'
import type { StateMark } from '../../core/work/stateChain.ts'
import type { Work } from '../../core/work/work.ts'
import { engineOnOwned, hasherOn } from '../../core/work/workEngine.ts'
import { createWorkKernels, type WorkKernels } from '../../core/work/workKernels.ts'
import { EXACT_OPS } from '../../core/work/workOps.ts'
import { openCpuWork } from '../../drivers/gpu/cpu/work/openCpuWork.ts'
import { WorkCard } from '../../drivers/gpu/cuda/work/card.ts'
import { CardRun } from '../../drivers/gpu/cuda/work/cardRun.ts'
import type { Tensors, WorkDevice, WorkRun } from '../../ports/workDevice.ts'
import { devicesAsOne } from './devicesAsOne.ts'

const wasm = readFileSync(new URL('../../../kernels/built/work.wasm', import.meta.url))
const engine = async () => engineOnOwned(await createWorkKernels(wasm))
const hasher = hasherOn(await engine())
const made: string[] = []

/** Tells which shards it made. */
const processor = (name: string): WorkDevice => ({
  name,
  start: async (work, given) => {
    const run = await (await openCpuWork()).start(work, given)
    const makeShard: WorkRun['makeShard'] = (segment, shard) => {
      made.push(`${name}${shard}`)
      return run.makeShard(segment, shard)
    }
    return { ...run, makeShard }
  },
  close: async () => {},
})
const card = async (): Promise<WorkDevice> => {
  const own = new WorkCard({
    api: await fakeWorkDriver(wasm),
    context: 1n,
    library: null,
    ptx: '',
    fieldPtx: '',
    fusedPtx: null,
  })
  return { name: 'card', start: (work, given) => CardRun.start(own, work, given), close: async () => own.close() }
}

const shared = (family: Family, shards: number, transitions = 1) =>
  tinyTraining(family, transitions, hasher, { shards })
const hexed = ({ root, statistics }: StateMark) => [toHex(root), ...statistics]

async function marksOn(device: WorkDevice, { work, given }: { work: Work<WorkKernels>; given: Tensors }) {
  const run = await device.start(work, given)
  const marks = [await run.advance(-1)]
  for (const segment of work.ends.keys()) marks.push(await run.advance(segment))
  await device.close()
  return marks.map(hexed)
}

test.each(['gpt', 'llama'] as const)('halves of a %s have the same bits on one device and on two', async (family) => {
  made.splice(0)
  const halves = shared(family, 2, family === 'gpt' ? 2 : 1)
  const alone = await marksOn(processor('a'), halves)
  expect(await marksOn(devicesAsOne([processor('a'), await card()]), halves)).toEqual(alone)
  expect(new Set(made.splice(0))).toEqual(new Set(['a0']))
})

test('three devices share four shards, and come to the same', async () => {
  made.splice(0)
  const quarters = shared('gpt', 4)
  const three = devicesAsOne([processor('a'), processor('b'), processor('c')])
  expect(await marksOn(three, quarters)).toEqual(await marksOn(processor('a'), quarters))
  expect(made.slice(0, 4).sort()).toEqual(['a0', 'a3', 'b1', 'c2'])
})

test('gradients are added as floats in the order of the shards, and the loss is the mean over all', async () => {
  const { work, given } = shared('gpt', 2)
  const run = new EngineRun(await engine(), work, given, hasher)
  const whole = tinyTraining('gpt', 2, hasher)
  const single = new EngineRun(await engine(), whole.work, whole.given, hasher)
  for (const one of [run, single]) one.advance(-1)
  const program = work.transition(1)
  expect(shardsIn(program)).toBe(2)
  const { parts, join } = splitShards(program)
  const shards = parts.map((_, shard) => run.makeShard(0, shard))
  // Each part hands out a gradient for every parameter, and its part of the loss.
  const parameters = [...work.state.keys()].filter((name) => !name.includes('/')).length
  expect(shards.map(({ size }) => size)).toEqual([parameters + 1, parameters + 1])
  const sum = join.steps.findIndex(({ op }) => op === 'add')
  const [a, b] = join.steps[sum]!.inputs.map((name, i) => new Float32Array(shards[i]!.get(name)!.buffer))
  run.keep(-1)
  const at = { transition: 0, step: program.steps.indexOf(join.steps[sum]!) }
  const added = new Float32Array(run.outputOf(0, at, 0).slice().buffer)
  expect(added).toEqual(a!.map((value, i) => Math.fround(value + b![i]!)))
  // The first state is the same, and so are the windows: the losses differ by rounding alone.
  const [loss, other] = [run.replayFrom(0, stateOf(work, single)), single.advance(0)].map(({ statistics }) =>
    floatOf(statistics[0]!),
  )
  expect(loss).toBeCloseTo(other!, 4)
})

const stateOf = ({ state }: Work<WorkKernels>, run: EngineRun<WorkKernels>): Tensors =>
  new Map([...state.keys()].map((name) => [name, run.read(name)]))

test('a work that several devices did is proven by one of them, and anyone checks it', async () => {
  const { work, given } = shared('gpt', 2)
  const run = await devicesAsOne([processor('a'), processor('b')]).start(work, given)
  const { root: firstRoot } = await run.advance(-1)
  await run.keep(-1)
  const marks: StateMark[] = []
  for (const segment of work.ends.keys()) marks.push(await run.advance(segment))
  const proof = await proveWork(work, { firstRoot, marks }, run, (draw) => sha256(Uint8Array.of(draw)))
  const receipt = { ...proof, workId: work.workId, firstRoot, marks }
  expect(checkReceipt(work, receipt, patchRunner(await engine(), EXACT_OPS)).problem).toBeNull()
})

test('devices that come to different states stop at once', async () => {
  const { work, given } = shared('gpt', 2)
  const wrong: WorkDevice = {
    ...processor('b'),
    start: async (...asked) => {
      const run = await processor('b').start(...asked)
      return { ...run, joinShards: async (...all) => ({ ...(await run.joinShards(...all)), root: firstBytes }) }
    },
  }
  const run = await devicesAsOne([processor('a'), wrong]).start(work, given)
  await run.advance(-1)
  await expect(run.advance(0)).rejects.toMatchObject({ detail: { code: 'DEVICES_DIFFER' } })
})

const firstBytes = new Uint8Array(32)
