import { beforeAll, expect, test } from 'vitest'
import { ownRate } from '../../../test/sim/posing.ts'
import { shippedCatalogue } from '../../../test/sim/shippedCatalogue.ts'
import { type SyntheticCard, syntheticRun } from '../../../test/support/syntheticRun.ts'
import type { Catalogue, GpuModel } from '../identify/catalogue.ts'
import { copyBandwidth } from '../identify/expected.ts'
import { PRECISION_NAMES } from '../params/precision.ts'
import { PRESETS } from '../params/presets.ts'
import { gpuTotals } from '../score/gpuTotals.ts'
import { type Judgement, judgeRun } from './judgeRun.ts'

let catalogue: Catalogue
beforeAll(async () => {
  catalogue = await shippedCatalogue()
})

const model = (id: string): GpuModel => catalogue.models.find((candidate) => candidate.id === id)!

/** A device that shows the rates of a card, and of its memory what it likes. */
function shown(id: string, memory: { heldBytes: number; bandwidth: number }, claim: string | null = null): Judgement {
  const names = PRECISION_NAMES.filter((name) => ownRate(model(id), name, catalogue) > 0)
  const rates = Object.fromEntries(names.map((name) => [name, ownRate(model(id), name, catalogue)]))
  const card: SyntheticCard = { rates, ...memory }
  const run = syntheticRun({ cards: [card], size: () => 16384 })
  const judged = { run, preset: PRESETS.mainnet, deviceClasses: ['gpu'] as const, catalogue, claim }
  return judgeRun({ ...judged, roundTripUs: 100, rejected: null })
}

const copyOf = (id: string): number => copyBandwidth(model(id), catalogue.rules)!
const statusOf = ({ devices }: Judgement) => devices[0]!.memory!.status
const paidBytes = ({ devices, scaling }: Judgement) => gpuTotals(devices, scaling)!.memoryBytes

test('attack 96: memory that no card of these rates has is not proven, however slow such a card reads', () => {
  // A B200 slowed down to a T4 computes its fill again, and has it from its host, as fast as a T4 reads its memory.
  const endless = shown('t4', { heldBytes: 1e12, bandwidth: copyOf('t4') })
  expect(statusOf(endless)).toBe('held')
  expect(paidBytes(endless)).toBe(0)
  const little = shown('t4', { heldBytes: 1.2 * model('t4').memoryBytes, bandwidth: copyOf('t4') })
  expect(statusOf(little)).toBe('held')
})

test('attack 97: a fill that fits a cache, read faster than any such card reads its memory, proves none', () => {
  // 60 MB in the second-level cache of an RTX 4090, which says that it has no more.
  const cached = shown('rtx-4090', { heldBytes: 67_108_864, bandwidth: 2 * copyOf('rtx-4090') })
  expect(statusOf(cached)).toBe('held')
  expect(gpuTotals(cached.devices, cached.scaling)!.bandwidth).toBe(0)
  const inOrder = { heldBytes: 0.95 * model('h200-sxm').memoryBytes, bandwidth: 1.85 * copyOf('h200-sxm') }
  expect(statusOf(shown('h200-sxm', inOrder))).toBe('held')
})

test('a card that fills and reads its own memory has it proven, also where a faster card with less of it fits the rates', () => {
  for (const id of ['t4', 'rtx-4090', 'l40s', 'h200-sxm', 'a100-pcie-80gb']) {
    const honest = shown(id, { heldBytes: 0.95 * model(id).memoryBytes, bandwidth: copyOf(id) }, model(id).name)
    expect(statusOf(honest), id).toBe('proven')
  }
})
