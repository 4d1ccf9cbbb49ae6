import fc from 'fast-check'
import { expect, test } from 'vitest'
import { cardLike, classesOf, judgeSynthetic } from '../../../test/cheats/evidenceCheats.ts'
import { shippedCatalogue } from '../../../test/sim/shippedCatalogue.ts'
import type { DeviceJudgement, Judgement } from '../certificate/judgeRun.ts'
import type { ClaimAnswer } from '../identify/claimReasons.ts'
import { identifyGpu } from '../identify/identifyGpu.ts'
import type { HostPart } from '../inventory/hostReport.ts'
import { claimed, fact, inferred, proven } from '../params/provenance.ts'
import { defaultScoreConfig } from '../score/defaultScoreConfig.ts'
import { hostClaims } from '../score/hostFacts.ts'
import { scoreBox } from '../score/scoreBox.ts'
import { scoreInput } from './scoreInput.ts'

const SAID = {
  cpuWhetstoneMips: 1,
  memoryLimitBytes: 2,
  ramBytesPerSec: 3,
  diskFreeBytes: 4,
  diskWriteBytesPerSec: 5,
}

const card: DeviceJudgement = {
  ...proven({ device: 0, rates: { bf16: 600e12 }, classes: {}, sustained: null }),
  ...{ bindPerSecond: null, bindShare: null, alonePerSecond: null, linkPerSecond: null },
  memory: { ...proven({ heldBytes: 130e9, perSecond: 4e12, status: 'proven' as const }), floorBytes: inferred(120e9) },
  identity: inferred({
    status: 'identified' as const,
    model: 'H200 SXM',
    confidencePercent: 99,
    cards: ['h200-sxm'],
    closest: [],
  }),
}
const judged = (more: Partial<Judgement>): Judgement => ({
  outcome: 'accepted',
  reason: null,
  catalogue: '',
  devices: [card, card],
  count: { claimed: claimed(2), least: inferred(1), established: false, sentence: '' },
  scaling: proven(1000),
  claim: null,
  ...more,
})

test('cards count with what was proven, and a rejected run or a CPU has none to show', () => {
  const gpuOf = (more: Partial<Judgement>) =>
    scoreInput({ judgement: judged(more), registered: false, allocated: false }).gpu
  expect(gpuOf({})).toMatchObject({ count: 2, rates: { bf16: 1200e12 }, memoryBytes: 260e9 })
  expect(gpuOf({})).not.toHaveProperty('model')
  const claim = { text: '2x H200', verdict: 'matches' as const, reasons: [] }
  expect(gpuOf({ claim })).toMatchObject({ count: 2, model: 'h200-sxm' })
  expect(gpuOf({ outcome: 'rejected', reason: { code: 'TOO_SHORT' } })).toBeNull()
  expect(gpuOf({ devices: [{ ...card, identity: { ...card.identity, status: 'cpu' } }] })).toBeNull()
})

test('attack 73, property: whatever a box says of itself is a claim, and what is no size is left out', () => {
  const facts = { cpuWhetstoneMips: 1, ramBytes: 2, ramBandwidth: 3, diskBytes: 4, diskBandwidth: 5 }
  const all = Object.fromEntries(Object.entries(facts).map(([name, value]) => [name, fact('claimed', value)]))
  expect(hostClaims(claimed({ ...SAID, registered: true, allocated: true, cpuLookups: 9 }))).toEqual(all)
  const odd = fc.oneof(fc.string(), fc.boolean(), fc.constantFrom(0, -1, Number.NaN, Number.POSITIVE_INFINITY))
  fc.assert(
    fc.property(fc.constantFrom(...Object.keys(SAID)), odd, (name, value) => {
      const left = Object.values(facts).filter((fact) => fact !== SAID[name as keyof typeof SAID])
      expect(Object.values(hostClaims(claimed({ ...SAID, [name]: value })))).toEqual(
        left.map((value) => fact('claimed', value)),
      )
    }),
  )
})

test('attacks 75 and 76: what a host part showed goes before what the box says, and a wrong mark leaves nothing', () => {
  const judgement = judged({ devices: [] })
  const source = { judgement, registered: true, allocated: false, claims: claimed(SAID) }
  const shown: HostPart = {
    part: 'disk',
    source: 'measured',
    bytesPerSec: 7,
    lanes: 16,
    of: 16,
    storedBytes: 1,
    pastCache: true,
    inWindow: false,
    problem: null,
  }
  const disk = (part: HostPart) => scoreInput({ ...source, host: [part] }).host?.diskBandwidth
  expect(disk(shown)).toEqual(fact('measured', 7))
  const nothing = { ...shown, source: null, bytesPerSec: 0 }
  const problem = (code: string) => ({ code, text: '', nextStep: '' })
  expect(disk({ ...nothing, problem: problem('HOST_WRONG_MARK') })).toEqual(fact('measured', 0))
  expect(disk({ ...nothing, problem: problem('HOST_SILENT') })).toEqual(fact('claimed', 5))
})

test('attack 99: the base score of a model is paid where a claim shows it whole, else the rates count', async () => {
  const catalogue = await shippedCatalogue()
  const config = { ...defaultScoreConfig(catalogue), mode: 'normalize' as const }
  // An RTX 3090 that keeps int8 and fp32 to itself and solves the rest on its int8 units.
  const rates = { fp8: 290e12, bf16: 155e12, fp16: 124e12 }
  const device = (model: string): DeviceJudgement => ({
    ...card,
    rates: proven(rates),
    memory: null,
    identity: { ...card.identity, cards: [inferred(model)] },
  })
  const scoreOf = (model: string, verdict: ClaimAnswer | null) => {
    const claim = verdict && { text: '', verdict, reasons: [] }
    const judgement = judged({ devices: [device(model)], scaling: null, claim })
    const input = scoreInput({ judgement, registered: false, allocated: false })
    return scoreBox(input, config)
  }
  const posing = identifyGpu(
    { ...proven({ rates, memoryBytes: 24.5e9, bandwidth: 868e9 }), declined: ['int8', 'fp32'] },
    catalogue,
  )
  expect(posing.model?.id).toBe('rtx-4090')
  for (const verdict of [null, 'unproven', 'weaker'] as const)
    expect(scoreOf('rtx-4090', verdict)).toEqual(scoreOf('', null))
  expect(scoreOf('rtx-4090', 'matches').score).toBeGreaterThan(1.5 * scoreOf('', null).score)
})

test('attack 113: a twin that is likelier than the card that was sold does not raise its base score', async () => {
  const catalogue = await shippedCatalogue()
  const config = { ...defaultScoreConfig(catalogue), mode: 'normalize' as const }
  const termsOf = (bf16: number, claim: string | null) => {
    const card = cardLike(catalogue, 'h200-nvl')
    const rates = { ...card.rates, bf16: bf16 * card.rates.bf16!, fp8: bf16 * card.rates.fp8! }
    const shown = { ...card, rates, bindRate: 0.5 * card.rates.int8! }
    const judgement = judgeSynthetic(catalogue, { cards: [shown], size: classesOf(catalogue, 'h200-nvl') }, { claim })
    const input = scoreInput({ judgement, registered: false, allocated: false })
    const model = judgement.devices[0]!.identity.cards![0]
    return { model, verdict: judgement.claim?.verdict, terms: scoreBox(input, config).terms }
  }
  const honest = termsOf(1, 'H200 NVL')
  expect(honest).toMatchObject({ model: 'h200-nvl', verdict: 'matches' })
  expect(honest.terms.map(({ name }) => name)).toContain('gpu.base')
  // The same card with Strassen (§2): 25 % more in bf16 and fp8, and a GH200 of 144 GB is likelier, at 1.25 of its base.
  const posing = termsOf(1.25, 'H200 NVL')
  expect(posing).toMatchObject({ model: 'gh200-144gb', verdict: 'matches' })
  expect(posing.terms).toEqual(termsOf(1.25, null).terms)
})

test('attack 517: of devices that are unlike no base score is paid: they are named by less than the claim is judged by', async () => {
  const catalogue = await shippedCatalogue()
  const id = 'rtx-3090'
  const inputOf = (used: number) => {
    const alone = cardLike(catalogue, id)
    const card = { ...alone, bindRate: 0.5 * alone.rates.int8! }
    const cards = [card, { ...card, heldBytes: (1 - used) * card.heldBytes! }]
    const judgement = judgeSynthetic(catalogue, { cards, size: classesOf(catalogue, id) }, { claim: `2x ${id}` })
    expect(judgement.claim?.verdict).toBe('matches')
    return scoreInput({ judgement, registered: false, allocated: false }).gpu
  }
  expect(inputOf(0)).toMatchObject({ model: id })
  expect(inputOf(0.06)).not.toHaveProperty('model')
})
