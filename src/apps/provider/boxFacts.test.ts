import { describe, expect, test } from 'vitest'
import type { Judgement } from '../../core/certificate/judgeRun.ts'
import { claimed } from '../../core/params/provenance.ts'
import { checkRequirements } from '../../core/score/checkRequirements.ts'
import { boxFacts } from './boxFacts.ts'

const card = (device: number, status: string) => ({
  device,
  rates: { bf16: 600e12 },
  sustained: null,
  memory: { heldBytes: 130e9, perSecond: 4e12, floorBytes: 120e9, status: 'proven' },
  identity: { status, model: status === 'cpu' ? null : 'h200-sxm', confidencePercent: 99, twins: [], closest: [] },
})
const judgement = (outcome: 'accepted' | 'rejected', status = 'identified') =>
  ({ outcome, devices: [card(0, status), card(1, status)], scaling: 1000 }) as unknown as Judgement
describe('boxFacts', () => {
  test('cards count with what was proven, the rest with what was measured', () => {
    const host = claimed({
      cpuWhetstoneMips: 3000,
      memoryBytes: 9,
      memoryLimitBytes: 8,
      diskFreeBytes: 7,
      diskWriteBytesPerSec: 6,
    })
    expect(boxFacts(judgement('accepted'), { host })).toEqual({
      gpuCount: 2,
      gpuMemoryBytes: 260e9,
      bf16OpsPerSec: 1200e12,
      cpuWhetstoneMips: 3000,
      ramBytes: 8,
      diskBytes: 7,
      diskBandwidth: 6,
      model: 'h200-sxm',
    })
  })

  test('a rejected run, a CPU and an unmeasured box have nothing to show, and every lack is named', () => {
    for (const facts of [
      boxFacts(judgement('rejected'), { host: {} }),
      boxFacts(judgement('accepted', 'cpu'), { host: claimed({ diskFreeBytes: 'much' }) }),
    ]) {
      expect(facts).toMatchObject({ gpuCount: 0, bf16OpsPerSec: 0, diskBytes: 0, model: null })
      const missing = checkRequirements(facts, { gpuCount: 1, ramBytes: 1, models: ['h200-sxm'] })
      expect(missing.map(({ requirement }) => requirement)).toEqual(['gpuCount', 'ramBytes', 'models'])
    }
  })
})
