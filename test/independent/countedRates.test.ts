import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { countedPerSecond } from '../../src/core/proof/figures.ts'
import type { Run } from '../../src/core/proof/verifyPart.ts'

const program = fileURLToPath(new URL('counted_rates.py', import.meta.url))
const hasPython = spawnSync('python3', ['--version']).status === 0
if (!hasPython) console.warn('skipped: python3 is not installed, so counted rates are not compared')

/** A part of up to 32 devices whose roots came whenever they liked. */
const timedPart = fc
  .record({
    kind: fc.constantFrom('rounds' as const, 'memory' as const),
    m: fc.constantFrom(64, 4096, 32768),
    k: fc.constantFrom(64, 32768),
    rounds: fc.integer({ min: 1, max: 40 }),
    devices: fc.integer({ min: 1, max: 32 }),
    longestGapUs: fc.constantFrom(1, 20, 100_000),
  })
  .chain(({ kind, m, k, rounds, devices, longestGapUs }) => {
    const isMemory = kind === 'memory'
    const gaps = fc.array(fc.nat(longestGapUs), { minLength: rounds, maxLength: rounds })
    const kept = fc.array(fc.integer({ min: 1, max: 9 }), { minLength: devices, maxLength: devices })
    const zSentUs = isMemory ? 777 : null
    return fc
      .record({ kept, gaps: fc.array(gaps, { minLength: devices, maxLength: devices }) })
      .map(({ kept, gaps }) => ({ kind, m, n: m, k, rounds, kept, zSentUs, arrivalsUs: gaps.map(timesOf) }))

    function timesOf(list: readonly number[]): number[] {
      let now = zSentUs ?? 0
      return list.map((gap) => {
        now += gap
        return now
      })
    }
  })
  .map((part) => ({
    ...part,
    arrivalsUs: part.arrivalsUs.map((times, d) =>
      part.kind === 'memory' ? [...Array<number>(part.kept[d]!).fill(5), ...times] : times,
    ),
  }))

describe.skipIf(!hasPython)('counted rates', () => {
  test('two verifiers, written apart, count the same digits', () => {
    const parts = fc.sample(timedPart, { numRuns: 80, seed: 9 })
    const theirs = spawnSync('python3', ['-B', program], { input: JSON.stringify(parts), encoding: 'utf8' })
    expect(theirs.stderr).toBe('')
    const ours = parts.map(({ arrivalsUs, zSentUs, ...part }) => {
      const devices = arrivalsUs.map((times, device) => ({ device, arrivalsUs: times }))
      return countedPerSecond({ challenge: { parts: [part] }, parts: [{ zSentUs, devices }] } as unknown as Run, 2)
    })
    expect(ours).toEqual(JSON.parse(theirs.stdout))
  })
})
