import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { madeUpChallenge, madeUpEvidence, madeUpPart } from '../../../test/support/madeUpRun.ts'
import { devicesOf } from './part.ts'
import { type Part, rootCount } from './partKinds.ts'
import { type PartEvidence, verifyRoots } from './verifyPart.ts'

/** A part of two devices, with the times of an honest run, and one thing done to them. */
interface Story {
  readonly part: Part
  readonly evidence: PartEvidence
}

const LIMIT_MS = 10
const LIMIT_US = 1000 * LIMIT_MS
const Z_US = 6000

const story: fc.Arbitrary<Story> = fc
  .record({
    kind: fc.constantFrom('rounds' as const, 'memory' as const, 'bind' as const),
    rounds: fc.integer({ min: 1, max: 6 }),
    kept: fc.array(fc.integer({ min: 1, max: 5 }), { minLength: 2, maxLength: 2 }),
    mask: fc.constantFrom(1, 2, 3),
    times: fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { minLength: 24, maxLength: 24 }),
  })
  .map(({ kind, rounds, kept, mask, times }) => {
    const isMemory = kind === 'memory'
    const fill = kept.map((count, d) => (isMemory && Math.floor(mask / 2 ** d) % 2 === 1 ? count : 0))
    const part = madeUpPart({ kind, rounds, mask, kept: fill, limitMs: LIMIT_MS })
    const draw = (from: number, to: number, share: number) => Math.round(from + share * (to - from))
    const devices = devicesOf(part).map((device) => {
      const own = times.slice(12 * device)
      const first = own.slice(0, fill[device]!).map((share) => draw(0, Z_US, share))
      const timed = own
        .slice(fill[device]!, rootCount(part, device))
        .map((share) => draw(isMemory ? Z_US : 0, (isMemory ? Z_US : 0) + LIMIT_US, share))
      return { device, arrivalsUs: [...first.sort((a, b) => a - b), ...timed.sort((a, b) => a - b)] }
    })
    return { part, evidence: madeUpEvidence(devices, isMemory ? Z_US : null) }
  })

const codeOf = ({ part, evidence }: Story): string =>
  verifyRoots({ challenge: madeUpChallenge([part]), parts: [evidence] }, 0)?.code ?? 'none'

const change = (one: Story, at: number, edit: (device: Mutable) => void): Story => {
  const devices = one.evidence.devices.map((device) => ({
    ...device,
    roots: [...device.roots],
    arrivalsUs: [...device.arrivalsUs],
  }))
  edit(devices[at % devices.length]!)
  return { ...one, evidence: { ...one.evidence, devices } }
}

interface Mutable {
  device: number
  roots: Uint8Array[]
  arrivalsUs: number[]
}

const check = (expected: string | RegExp, edit: (device: Mutable, one: Story) => void) =>
  fc.assert(
    fc.property(story, fc.nat(1), (one, at) => {
      const code = codeOf(change(one, at, (device) => edit(device, one)))
      if (typeof expected === 'string') expect(code).toBe(expected)
      else expect(code).toMatch(expected)
    }),
  )

describe('roots of one part', () => {
  test('property: every root of every device, in order and in time, passes', () => check('none', () => {}))

  test('property: a root less is missing', () =>
    check('MISSING_ROOT', ({ roots, arrivalsUs }) => {
      roots.pop()
      arrivalsUs.pop()
    }))

  test('property: attack 11, a root more, or a time more or less, is unexpected', () => {
    check('UNEXPECTED_ROOT', ({ roots, arrivalsUs }) => {
      roots.push(new Uint8Array(32))
      arrivalsUs.push(arrivalsUs.at(-1)!)
    })
    check('UNEXPECTED_ROOT', ({ arrivalsUs }) => void arrivalsUs.push(arrivalsUs.at(-1)!))
    check('UNEXPECTED_ROOT', ({ arrivalsUs }) => void arrivalsUs.pop())
  })

  test('property: a root of another device is unexpected', () =>
    check('UNEXPECTED_ROOT', (device) => {
      device.device += 2
    }))

  test('property: attack 11, the last root a microsecond after the limit is late', () =>
    check('LATE_ROOT', ({ arrivalsUs }, { part }) => {
      arrivalsUs[arrivalsUs.length - 1] = LIMIT_US + (part.kind === 'memory' ? Z_US : 0) + 1
    }))

  test('property: attack 11, a root before T0, or before the one before it, is early', () => {
    check('EARLY_ROOT', ({ arrivalsUs }) => {
      arrivalsUs[0] = -1
    })
    check(/^(EARLY_ROOT|none)$/, ({ arrivalsUs }) => {
      if (arrivalsUs.length > 1) arrivalsUs[arrivalsUs.length - 1] = arrivalsUs.at(-2)! - 1
    })
  })

  test('property: attack 38, a fill root after Z_0 is late and a pass root before it early', () => {
    const memory = story.filter(({ part }) => part.kind === 'memory')
    fc.assert(
      fc.property(memory, fc.nat(1), (one, at) => {
        const late = change(one, at, ({ arrivalsUs, device }) => {
          arrivalsUs[one.part.kept[device]! - 1] = Z_US + 1
        })
        expect(codeOf(late)).toBe('LATE_ROOT')
        const early = change(one, at, ({ arrivalsUs, device }) => {
          arrivalsUs[one.part.kept[device]!] = Z_US - 1
        })
        expect(codeOf(early)).toBe('EARLY_ROOT')
      }),
    )
  })

  test('attack 1: no device at all is missing', () => {
    fc.assert(
      fc.property(story, (one) => {
        expect(codeOf({ ...one, evidence: { ...one.evidence, devices: [] } })).toBe('MISSING_ROOT')
      }),
    )
  })
})
