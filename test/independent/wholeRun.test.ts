import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { wholeRunDiffers } from '../../src/core/certificate/challengeDiffers.ts'
import type { PlannedPart } from '../../src/core/proof/partKinds.ts'
import { planned } from '../support/plannedBoxes.ts'
import { skipWith } from '../support/skipWith.ts'

const hasPython = spawnSync('python3', ['--version']).status === 0
if (!hasPython) skipWith('a second implementation of whole runs agrees', 'python3 is not installed')

/** What may be wrong with a part; the last changes nothing. */
const changes: readonly ((part: PlannedPart) => readonly PlannedPart[])[] = [
  () => [],
  (part) => [part, part],
  (part) => [{ ...part, mask: 1 }],
  (part) => [{ ...part, m: part.m * 2, n: part.n * 2 }],
  (part) => [{ ...part, m: part.m / 2, n: part.n / 2 }],
  (part) => [{ ...part, rounds: Math.ceil(part.rounds / 5) }],
  (part) => [{ ...part, kept: part.kept.map((kept) => Math.max(0, kept - 1)) }],
  (part) => [part],
]

test.skipIf(!hasPython)('attack 83: two verifiers, written apart, call the same runs whole', () => {
  const case_ = fc.tuple(planned, fc.nat(), fc.constantFrom(...changes)).map(([{ devices, plan }, drawn, change]) => {
    const at = drawn % plan.length
    return { devices, parts: plan.toSpliced(at, 1, ...change(plan[at]!)) }
  })
  const cases = fc.sample(case_, { numRuns: 600, seed: 83 })
  const ours = cases.map(({ parts, devices }) => wholeRunDiffers({ parts } as never, devices) === null)
  const program = fileURLToPath(new URL('whole.py', import.meta.url))
  const second = spawnSync('python3', ['-B', program], { input: JSON.stringify(cases), encoding: 'utf8' })
  expect(second.stderr).toBe('')
  expect(JSON.parse(second.stdout)).toEqual(ours)
  expect(ours.filter((whole) => whole).length).toBeGreaterThan(60)
  expect(ours.filter((whole) => !whole).length).toBeGreaterThan(60)
})
