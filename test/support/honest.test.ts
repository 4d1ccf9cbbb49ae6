import { beforeAll, expect, test } from 'vitest'
import type { Catalogue } from '../../src/core/identify/catalogue.ts'
import { PRECISION_NAMES } from '../../src/core/params/precision.ts'
import type { TileEngine } from '../../src/core/proof/tileEngine.ts'
import { shippedCatalogue } from '../sim/shippedCatalogue.ts'
import { honestProgram } from './inProcessBox.ts'
import { openReferenceDevice } from './openReferenceDevice.ts'
import { testEngine } from './testEngine.ts'
import { verifyInProcess } from './verifyInProcess.ts'

let catalogue: Catalogue
let engine: TileEngine
beforeAll(async () => {
  catalogue = await shippedCatalogue()
  engine = await testEngine()
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
