import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { MAINNET, planned } from '../../../test/support/plannedBoxes.ts'
import { PRECISION_NAMES } from '../params/precision.ts'
import type { PlannedPart } from '../proof/partKinds.ts'
import { planRun } from '../proof/planRun.ts'
import { wholeRunDiffers } from './challengeDiffers.ts'
import { lengthen } from './shortParts.ts'

const differs = (parts: readonly PlannedPart[], devices: Parameters<typeof wholeRunDiffers>[1]) =>
  wholeRunDiffers({ parts, deviceCount: devices.length } as never, devices)

describe('attack 83: a mainnet run is whole', () => {
  test('property: every plan of mainnet is, also one that was made longer', () => {
    fc.assert(
      fc.property(planned, fc.nat(), ({ devices, plan }, drawn) => {
        expect(differs(plan, devices)).toBeNull()
        const short = { part: drawn % plan.length, device: 0, leastUs: 1_500_000, elapsedUs: 700_000 }
        expect(differs(lengthen(plan, [short]), devices)).toBeNull()
      }),
    )
  })

  test('property: without any one part it is not, nor with one more', () => {
    fc.assert(
      fc.property(planned, ({ devices, plan }) => {
        for (const p of plan.keys()) {
          // A link may be left out (attack 499).
          if (plan[p]!.kind !== 'link') expect(differs(plan.toSpliced(p, 1), devices)).not.toBeNull()
          expect(differs(plan.toSpliced(p, 0, plan[p]!), devices)).not.toBeNull()
        }
      }),
    )
  })

  test('property: a device that is idle in one part, another size, k or fill is noticed', () => {
    const lessens: readonly ((part: PlannedPart) => PlannedPart)[] = [
      (part) => ({ ...part, mask: part.mask & (part.mask - 1) }),
      (part) => ({ ...part, m: 32, n: 32 }),
      (part) => ({ ...part, k: part.k / 2 }),
      (part) => ({ ...part, kept: part.kept.map((kept) => (kept > 1 ? 1 : kept)) }),
    ]
    fc.assert(
      fc.property(planned, fc.constantFrom(...lessens), ({ devices, plan }, lessen) => {
        for (const [p, part] of plan.entries()) {
          const less = lessen(part)
          if (JSON.stringify(less) === JSON.stringify(part)) continue
          expect(differs(plan.toSpliced(p, 1, less), devices)).not.toBeNull()
        }
      }),
    )
  })

  test('attack 486: nor is one in which no precision was offered', () => {
    const devices = [{ class: 'gpu' as const, memoryBytes: 2 ** 33, freeBytes: 2 ** 33, precisions: [] }]
    const inputs = { ...MAINNET, devices, precisions: [], maxSize: 32768, roundTripSeconds: 0 }
    expect(
      differs(
        planRun(inputs, () => 32768, new Map()),
        devices,
      ),
    ).toBe('no part in any precision')
  })

  test('alone parts that are over at once are noticed', () => {
    const cards = [1, 2].map(() => ({
      class: 'gpu' as const,
      memoryBytes: 80 * 2 ** 30,
      freeBytes: 79 * 2 ** 30,
      precisions: PRECISION_NAMES,
    }))
    const inputs = { ...MAINNET, devices: cards, precisions: PRECISION_NAMES, maxSize: 32768, roundTripSeconds: 0 }
    const gap = { fastest: 0.05, slowest: 0.05 }
    const times = new Map(['int8', 'fp8', 'bf16', 'fp16', 'fp32'].map((name) => [`rounds ${name}`, gap]))
    times.set('pass byte', { fastest: 2e-13, slowest: 2e-13 }).set('bind int8', gap)
    const plan = planRun(inputs, () => 16384, times)
    expect(differs(plan, cards)).toBeNull()
    for (const p of plan.keys())
      if (plan[p]!.mask !== 3) expect(differs(plan.with(p, { ...plan[p]!, rounds: 2 }), cards)).toBe(`part ${p} rounds`)
  })
})
