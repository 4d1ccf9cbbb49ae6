import { expect, test } from 'vitest'
import { verdictOn } from '../../../test/sim/honestBox.ts'
import { modelOf, shippedCatalogue } from '../../../test/sim/shippedCatalogue.ts'
import { claimed } from '../../core/params/provenance.ts'
import { whyNotJoin } from './selfCheck.ts'

const reportOf = async (id: string, host: Readonly<Record<string, string>> = {}) => {
  const catalogue = await shippedCatalogue()
  const { judgement } = await verdictOn({ model: modelOf(catalogue, id), cards: 1, roundTripSeconds: 0.001 }, catalogue)
  expect(judgement.claim?.verdict).toBe('matches')
  const inventory = claimed({ program: 'touchstone prover', devices: [], host })
  return { catalogue, report: { judgement, inventory, faults: [] } }
}

test('attack 525: a box whose claim is met is of an accepted model, though its twin is likelier', async () => {
  const id = 'quadro-rtx-6000'
  const { catalogue, report } = await reportOf(id)
  const joins = (...models: string[]) => whyNotJoin(report, { models }, catalogue)
  expect([joins(id), joins(...catalogue.models.map((model) => model.id))]).toEqual([[], []])
  expect(joins('h200-sxm')).toEqual([`GPU model: is ${id}, must be one of h200-sxm`])
})

test('a box of which a card failed or did not open does not join, as verify would not end with 0', async () => {
  const { catalogue, report } = await reportOf('h100-sxm', { gpuFaults: 'card 1 (NVIDIA H100): GPU_LOST' })
  expect(whyNotJoin(report, {}, catalogue)).toEqual(['devices failed, or did not open: 1 (DEVICE_FAILED)'])
})
