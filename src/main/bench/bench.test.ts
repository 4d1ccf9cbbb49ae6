import { expect, test } from 'vitest'
import { shippedCatalogue } from '../../../test/sim/shippedCatalogue.ts'
import { summariseSamples } from '../../core/bench/summariseSamples.ts'
import { reportOf } from './bench.ts'

const catalogue = await shippedCatalogue()
const card = (device: number) => ({
  device,
  ...{ name: 'NVIDIA H200', class: 'gpu' as const, backEnd: 'cuda', uuid: `GPU-${device}` },
  ...{ driver: null, productLibrary: null, memoryBytes: 1e9, memory: null, transfers: null },
  products: [{ precision: 'int8' as const, size: 64, k: 64, provenOpsPerSec: 1e15, bareOpsPerSec: 1e15 }],
  watched: summariseSamples([]),
  state: {},
})

test.each([
  ['auto', 1],
  ['cuda', 1],
  ['cuda:0', 0],
  ['cpu,cuda', 1],
  ['cpu,cuda:0', 0],
  ['cpu', 0],
])('attack 347: with --devices %s a card that is gone is missed %i times', (devices, missed) => {
  const facts = { startedAt: '2026-11-16T12:00:00.000Z', seconds: 1, claim: null, catalogue }
  const asked = { ...facts, failed: [], flags: { seconds: 1, devices, tolerance: 15, against: 'monday.json' } }
  const run = (cards: readonly number[]) => ({ devices: cards.map(card), links: [], faults: [] })
  const monday = reportOf(run([0, 1]), { ...asked, earlier: null })
  const { notes } = reportOf(run([0]), { ...asked, earlier: monday })
  expect(notes.filter(({ code }) => code === 'NOT_COMPARED')).toHaveLength(missed)
})
