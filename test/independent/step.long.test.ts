import { execFileSync, spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import { toHex } from '../../src/core/bytes/hex.ts'
import { PLAIN_HASHER } from '../../src/core/work/engineRun.ts'
import { planRest } from '../../src/core/work/methods/step/restPlan.ts'
import {
  alteredCases,
  caseHash,
  chanceCases,
  committedCases,
  problemOf,
  type StepCase,
  type StepVerdict,
  spellCase,
} from '../support/stepCases.ts'
import { tinyTraining } from '../support/tinyTraining.ts'

const checker = fileURLToPath(new URL('step.py', import.meta.url))
const hasPython = spawnSync('python3', ['--version']).status === 0
if (!hasPython) console.warn('skipped: python3 is not installed, so proofs of a transition have one judge')

function verdictsOf(cases: readonly ReturnType<typeof spellCase>[]): readonly StepVerdict[] {
  const folder = mkdtempSync(join(tmpdir(), 'step-'))
  try {
    const file = join(folder, 'cases.json')
    writeFileSync(file, JSON.stringify(cases))
    const lines = execFileSync('python3', ['-B', checker, file], { encoding: 'utf8' }).trim().split('\n')
    return lines.map((line) => JSON.parse(line))
  } finally {
    rmSync(folder, { recursive: true })
  }
}

/** Both judge alike; the answer is what they said. */
function judged(cases: readonly StepCase[]): readonly StepVerdict[] {
  const verdicts = verdictsOf(cases.map(spellCase))
  expect(verdicts.length).toBe(cases.length)
  for (const [i, one] of cases.entries()) {
    const verdict = verdicts[i]!
    if (verdict === null) expect(problemOf(one), one.name).toBeNull()
    else expect(problemOf(one), one.name).toMatchObject(verdict)
  }
  return verdicts
}

describe.skipIf(!hasPython)('a second implementation judges proofs of a transition as ours does', () => {
  test('right ones, altered ones and those of cheats, with the verdicts of the vectors', async () => {
    const cases = [...(await alteredCases('all')), ...(await alteredCases('shared')), ...(await committedCases())]
    const verdicts = judged(cases)
    const vectors = cases.map((one, i) => ({ name: one.name, sha256: caseHash(one), verdict: verdicts[i]! }))
    await expect(`${JSON.stringify(vectors, null, 1)}\n`).toMatchFileSnapshot('../vectors/step.json')
  })

  test.each([
    [7, 'ROOTS_MISSING'],
    [8, 'TOO_BIG'],
  ])('attack 236: a plan of %i layers and wide rows, which the eighth makes too unsure', (layers, code) => {
    const { work } = tinyTraining('gpt', 1, PLAIN_HASHER, { model: { layers, vocabulary: 131_072 } })
    const plan = () => planRest(work.ops, work, 1, 'shared')
    if (code === 'TOO_BIG') expect(plan).toThrow('2^-100 is the most')
    else expect(plan).not.toThrow()
    const nothing = { transition: 1, wanted: 'shared' as const, figures: [], roots: [], rest: '', products: '' }
    const hashes = { before: '', after: '', matrixRoot: '', nonce: '' }
    const order = { specification: work.text, orderId: toHex(work.orderId), seed: toHex(work.seed) }
    expect(verdictsOf([{ ...order, ...nothing, ...hashes }])).toEqual([{ code }])
  })

  test('those of whoever changed a bit of any tensor', async () => {
    const verdicts = judged(await chanceCases(120, 1))
    const codes = new Set(verdicts.map((verdict) => verdict?.code ?? 'accepted'))
    for (const code of ['accepted', 'STEP_WRONG', 'PATCH_WRONG', 'VECTOR_WRONG', 'WRONG_VALUE'])
      expect(codes).toContain(code)
  })
})
