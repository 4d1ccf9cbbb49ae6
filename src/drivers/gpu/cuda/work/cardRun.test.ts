import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { fakeWorkDriver } from '../../../../../test/support/fakeWorkCard.ts'
import { chanceFlow, chancePicture, chanceProduct } from '../../../../../test/support/smallWorks.ts'
import { openWasmField } from '../../../../../test/support/sumcheckCheats.ts'
import { tinyTraining } from '../../../../../test/support/tinyTraining.ts'
import { chanceFrom } from '../../../../../test/support/workTrials.ts'
import { toHex } from '../../../../core/bytes/hex.ts'
import { sha256 } from '../../../../core/bytes/sha256.ts'
import type { PatchEvidence } from '../../../../core/work/checkPatch.ts'
import { drawPatches } from '../../../../core/work/draws.ts'
import { EngineRun } from '../../../../core/work/engineRun.ts'
import { productOf } from '../../../../core/work/methods/sumcheck/productReceipt.ts'
import { proveGathered, proveSumcheck } from '../../../../core/work/methods/sumcheck/sumcheck.ts'
import { segmentPrograms } from '../../../../core/work/work.ts'
import { engineOnOwned, hasherOn } from '../../../../core/work/workEngine.ts'
import { createWorkKernels, type WorkKernels } from '../../../../core/work/workKernels.ts'
import { EXACT_OPS } from '../../../../core/work/workOps.ts'
import { WorkCard } from './card.ts'
import { CardRun } from './cardRun.ts'

const wasm = readFileSync(new URL('../../../../../kernels/built/work.wasm', import.meta.url))
const engine = async () => engineOnOwned(await createWorkKernels(wasm))

async function fakeCard() {
  const api = await fakeWorkDriver(wasm)
  return { api, card: new WorkCard({ api, context: 1n, library: null, ptx: '', fieldPtx: '', fusedPtx: null }) }
}

const hexOf = (all: readonly Uint8Array[]): string[] => all.map(toHex)

test('a GPT on a card has the marks, weights, traces and patches of the engine', async () => {
  const hasher = hasherOn(await engine())
  const { work, given } = tinyTraining('gpt', 2, hasher)
  const cpu = new EngineRun<WorkKernels>(await engine(), work, given, hasher)
  const { api, card } = await fakeCard()
  const run = await CardRun.start(card, work, given)
  expect(await run.advance(-1)).toEqual(cpu.advance(-1))
  await run.keep(-1)
  cpu.keep(-1)
  expect(await run.advance(0)).toEqual(cpu.advance(0))
  expect(await run.advance(1)).toEqual(cpu.advance(1))
  expect(toHex(await run.read('embed'))).toBe(toHex(cpu.read('embed')))
  expect(hexOf(await run.trace(1))).toEqual(hexOf(cpu.trace(1)))
  const draws = drawPatches(EXACT_OPS, segmentPrograms(work, 1), sha256(Uint8Array.of(7)))
  const evidence = (of: readonly PatchEvidence[]) => of.flatMap(({ leaves, proof }) => hexOf([leaves, proof]))
  expect(evidence(await run.open(1, draws))).toEqual(evidence(cpu.open(1, draws)))
  expect(toHex(await run.outputOf(1, draws[0]!, 0))).toBe(toHex(cpu.outputOf(1, draws[0]!, 0)))
  card.close()
  expect(api.held.size).toBe(0)
})

test('a Llama too', async () => {
  const hasher = hasherOn(await engine())
  const { work, given } = tinyTraining('llama', 1, hasher)
  const cpu = new EngineRun<WorkKernels>(await engine(), work, given, hasher)
  const run = await CardRun.start((await fakeCard()).card, work, given)
  for (const segment of [-1, 0]) expect(await run.advance(segment)).toEqual(cpu.advance(segment))
})

test.each([
  ['a flow', chanceFlow, 4],
  ['a picture', chancePicture, 5],
])('%s too, with every mark of many transitions and the last segment traced', async (_, make, seed) => {
  const hasher = hasherOn(await engine())
  const { work, given } = make(chanceFrom(seed), hasher)
  const cpu = new EngineRun<WorkKernels>(await engine(), work, given, hasher)
  const run = await CardRun.start((await fakeCard()).card, work, given)
  for (const one of [run, cpu]) {
    if (work.isIndependent) continue
    await one.advance(-1)
    await one.keep(-1)
  }
  for (const segment of work.ends.keys()) {
    expect(await run.advance(segment)).toEqual(cpu.advance(segment))
    // The card has gone on with the next segment by now.
    for (const name of work.state.keys()) expect(toHex(await run.read(name))).toBe(toHex(cpu.read(name)))
  }
  const last = work.ends.length - 1
  expect(hexOf(await run.trace(last))).toEqual(hexOf(cpu.trace(last)))
})

test('products of any shape: the sumcheck of a card is that of the engine, byte for byte', async () => {
  const hasher = hasherOn(await engine())
  const field = await openWasmField()
  for (let seed = 0; seed < 4; seed++) {
    const { work, given } = chanceProduct(chanceFrom(seed), hasher)
    const { api, card } = await fakeCard()
    const run = await CardRun.start(card, work, given)
    const roots: Uint8Array[] = []
    for (const segment of work.ends.keys()) roots.push((await run.advance(segment)).root)
    const product = productOf(work, roots)!
    const proof = await proveGathered(field, product, (name, point) => run.gather(name, point))
    const operands = { a: given.get('a')!, b: given.get('b')! }
    expect(toHex(proof)).toBe(toHex(proveSumcheck(field, product, operands)))
    expect(api.launched).toContain('columnsTimesI8')
    card.close()
    expect(api.held.size).toBe(0)
  }
})

test('a GPT in shards on a card, made one by one and joined, has the marks of the engine', async () => {
  const hasher = hasherOn(await engine())
  const { work, given } = tinyTraining('gpt', 2, hasher, { shards: 2 })
  const cpu = new EngineRun<WorkKernels>(await engine(), work, given, hasher)
  const run = await CardRun.start((await fakeCard()).card, work, given)
  expect(await run.advance(-1)).toEqual(cpu.advance(-1))
  for (const segment of [0, 1]) {
    const made = new Map([...(await run.makeShard(segment, 0)), ...(await run.makeShard(segment, 1))])
    expect(await run.joinShards(segment, made)).toEqual(cpu.advance(segment))
  }
})

test('two cards in one thread share the shards, each in its own context', async () => {
  const hasher = hasherOn(await engine())
  const { work, given } = tinyTraining('gpt', 2, hasher, { shards: 2 })
  const cpu = new EngineRun<WorkKernels>(await engine(), work, given, hasher)
  const api = await fakeWorkDriver(wasm)
  const cards = [1n, 2n].map(
    (context) => new WorkCard({ api, context, library: null, ptx: '', fieldPtx: '', fusedPtx: null }),
  )
  const runs = await Promise.all(cards.map((card) => CardRun.start(card, work, given)))
  await Promise.all(runs.map((run) => run.advance(-1)))
  cpu.advance(-1)
  for (const segment of [0, 1]) {
    const parts = await Promise.all(runs.map((run, shard) => run.makeShard(segment, shard)))
    const made = new Map(parts.flatMap((part) => [...part]))
    const marks = await Promise.all(runs.map((run) => run.joinShards(segment, made)))
    expect(marks).toEqual(Array(2).fill(cpu.advance(segment)))
  }
  for (const card of cards) card.close()
  expect(api.held.size).toBe(0)
})

test('what is given must have the root that the specification names', async () => {
  const { work, given } = tinyTraining('gpt', 1, hasherOn(await engine()))
  const { card } = await fakeCard()
  const other = new Map([['data', given.get('data')!.map((byte, i) => (i === 5 ? byte ^ 1 : byte))]])
  await expect(CardRun.start(card, work, other)).rejects.toThrow('another root')
  await expect(CardRun.start(card, work, new Map())).rejects.toThrow('missing')
})

test('a number that is none ends the work at its step', async () => {
  const { work, given } = tinyTraining('gpt', 1, hasherOn(await engine()))
  const { card } = await fakeCard()
  const run = await CardRun.start(card, work, given)
  await run.advance(-1)
  await run.keep(-1)
  const { at, shape } = card.memory.place('layers.1.up.weight')
  card.memory.free('layers.1.up.weight')
  card.write('layers.1.up.weight', shape, new Uint8Array(4 * shape.rows * shape.width).fill(0xff))
  expect(card.memory.place('layers.1.up.weight').at).toBe(at)
  await expect(run.advance(0)).rejects.toThrow('(rowScale) wrote a number that is none')
})
