import { beforeAll, expect, test } from 'vitest'
import type { Catalogue } from '../../src/core/identify/catalogue.ts'
import { PRECISION_NAMES } from '../../src/core/params/precision.ts'
import { PRESETS } from '../../src/core/params/presets.ts'
import type { TileEngine } from '../../src/core/proof/tileEngine.ts'
import { shippedCatalogue } from '../sim/shippedCatalogue.ts'
import { honestProgram } from './inProcessBox.ts'
import { openReferenceDevice } from './openReferenceDevice.ts'
import { testEngine } from './testEngine.ts'
import { verifyInProcess } from './verifyInProcess.ts'
import { VirtualClock } from './virtualClock.ts'

let catalogue: Catalogue
let engine: TileEngine
beforeAll(async () => {
  catalogue = await shippedCatalogue()
  engine = await testEngine()
})

test('an honest prover passes devnet, calibration included, at the rate of its clock', async () => {
  const clock = new VirtualClock()
  const costs = { round: (signal: AbortSignal) => clock.sleep(100, signal) }
  const program = honestProgram({ devices: [openReferenceDevice({ engine, costs })] })
  const options = { preset: PRESETS.devnet, openings: 32, partSeconds: 3, maxSize: 64 }
  const { judgement } = await verifyInProcess({ program, catalogue, engine, clock, options })
  expect(judgement.reason).toBeNull()
  const rate = (2 * 64 * 64 * 2048) / 0.1
  expect(judgement.devices[0]!.rates.int8! / rate).toBeGreaterThan(0.99)
  expect(judgement.devices[0]!.rates.int8! / rate).toBeLessThanOrEqual(1)
})

test('attack 44: a box that is slow in the calibration buys minutes, not days', async () => {
  const clock = new VirtualClock()
  let rounds = 0
  const costs = { round: (signal: AbortSignal) => clock.sleep(rounds++ < 6 ? 25_000 : 1e9, signal) }
  const program = honestProgram({ devices: [openReferenceDevice({ engine, costs })] })
  const options = { preset: PRESETS.devnet, openings: 32, partSeconds: 3, maxSize: 64 }
  const { judgement, seconds } = await verifyInProcess({ program, catalogue, engine, clock, options })
  expect(judgement.reason?.code).toBe('LATE_ROOT')
  expect(seconds).toBeLessThan(1200)
})

const everything = { precisions: PRECISION_NAMES, memory: true, bind: true }

test('an honest prover of one device passes every part', async () => {
  const program = honestProgram({ devices: [openReferenceDevice({ engine })] })
  const { judgement } = await verifyInProcess({ program, catalogue, engine, options: everything })
  expect(judgement.reason).toBeNull()
  expect(judgement.outcome).toBe('accepted')
})

test('three honest devices pass every part, link and alone included, in pieces of seven bytes', async () => {
  const devices = [1, 2, 3].map(() => openReferenceDevice({ engine }))
  const program = honestProgram({ devices })
  const options = { ...everything, precisions: ['int8', 'bf16'] as const }
  const { judgement } = await verifyInProcess({ program, catalogue, engine, options, chunkBytes: 7 })
  expect(judgement.reason).toBeNull()
  expect(judgement.devices.map(({ linkPerSecond }) => linkPerSecond !== null)).toEqual([true, true, true])
})
