import fc from 'fast-check'
import { expect, test } from 'vitest'
import { shippedCatalogue } from '../../../test/sim/shippedCatalogue.ts'
import type { Judgement } from '../certificate/judgeRun.ts'
import type { ClaimAnswer } from '../identify/claimReasons.ts'
import { identifyGpu } from '../identify/identifyGpu.ts'
import type { HostPart } from '../inventory/hostReport.ts'
import { defaultScoreConfig } from '../score/defaultScoreConfig.ts'
import { claimed, measured } from '../score/fact.ts'
import { hostClaims } from '../score/hostClaims.ts'
import { scoreBox } from '../score/scoreBox.ts'
import { scoreInput } from './scoreInput.ts'

const SAID = {
  cpuWhetstoneMips: 1,
  memoryLimitBytes: 2,
  ramBytesPerSec: 3,
  diskFreeBytes: 4,
  diskWriteBytesPerSec: 5,
}

test('attack 73, property: whatever a box says of itself is a claim, and what is no size is left out', () => {
  const facts = { cpuWhetstoneMips: 1, ramBytes: 2, ramBandwidth: 3, diskBytes: 4, diskBandwidth: 5 }
  const all = Object.fromEntries(Object.entries(facts).map(([name, value]) => [name, claimed(value)]))
  expect(hostClaims({ ...SAID, registered: true, allocated: true, cpuHashing: 9 })).toEqual(all)
  const odd = fc.oneof(fc.string(), fc.boolean(), fc.constantFrom(0, -1, Number.NaN, Number.POSITIVE_INFINITY))
  fc.assert(
    fc.property(fc.constantFrom(...Object.keys(SAID)), odd, (name, value) => {
      const left = Object.values(facts).filter((fact) => fact !== SAID[name as keyof typeof SAID])
      expect(Object.values(hostClaims({ ...SAID, [name]: value }))).toEqual(left.map(claimed))
    }),
  )
})

test('attacks 75 and 76: what a host part showed goes before what the box says, and a wrong mark leaves nothing', () => {
  const judgement = { outcome: 'accepted', devices: [], scaling: null } as unknown as Judgement
  const source = { judgement, registered: true, allocated: false, claims: SAID }
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
  expect(disk(shown)).toEqual(measured(7))
  const nothing = { ...shown, source: null, bytesPerSec: 0 }
  const problem = (code: string) => ({ code, text: '', nextStep: '' })
  expect(disk({ ...nothing, problem: problem('HOST_WRONG_MARK') })).toEqual(measured(0))
  expect(disk({ ...nothing, problem: problem('HOST_SILENT') })).toEqual(claimed(5))
})

test('attack 99: the base score of a model is paid where a claim shows it whole, else the rates count', async () => {
  const catalogue = await shippedCatalogue()
  const config = { ...defaultScoreConfig(catalogue), mode: 'normalize' as const }
  // An RTX 3090 that keeps int8 and fp32 to itself and solves the rest on its int8 units.
  const rates = { fp8: 290e12, bf16: 155e12, fp16: 124e12 }
  const device = (model: string) => ({
    rates,
    sustained: null,
    memory: null,
    identity: { status: 'identified', model },
  })
  const scoreOf = (model: string, verdict: ClaimAnswer | null) => {
    const claim = verdict && { text: '', verdict, reasons: [] }
    const judged = { outcome: 'accepted', devices: [device(model)], scaling: null, claim }
    const input = scoreInput({ judgement: judged as unknown as Judgement, registered: false, allocated: false })
    return scoreBox(input, config)
  }
  const posing = identifyGpu({ rates, memoryBytes: 24.5e9, bandwidth: 868e9, declined: ['int8', 'fp32'] }, catalogue)
  expect(posing.model?.id).toBe('rtx-4090')
  for (const verdict of [null, 'unproven', 'weaker'] as const)
    expect(scoreOf('rtx-4090', verdict)).toEqual(scoreOf('', null))
  expect(scoreOf('rtx-4090', 'matches').score).toBeGreaterThan(1.5 * scoreOf('', null).score)
})
