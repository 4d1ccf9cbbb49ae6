import { execFileSync, spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { alteredCases, caseHash, committedCases, problemOf, type StepVerdict, spellCase } from '../support/stepCases.ts'

const checker = fileURLToPath(new URL('step.py', import.meta.url))
const hasPython = spawnSync('python3', ['--version']).status === 0
if (!hasPython) console.warn('skipped: python3 is not installed, so proofs of a transition have one judge')

function verdictsOf(cases: readonly unknown[]): readonly StepVerdict[] {
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

test.skipIf(!hasPython)(
  'a second implementation accepts and refuses the same proofs of a transition, for the same reasons',
  async () => {
    const cases = [...(await alteredCases('all')), ...(await alteredCases('shared')), ...(await committedCases())]
    const verdicts = verdictsOf(cases.map(spellCase))
    expect(verdicts.length).toBe(cases.length)
    for (const [i, one] of cases.entries()) {
      const verdict = verdicts[i]!
      if (verdict === null) expect(problemOf(one), one.name).toBeNull()
      else expect(problemOf(one), one.name).toMatchObject(verdict)
    }
    const vectors = cases.map((one, i) => ({ name: one.name, sha256: caseHash(one), verdict: verdicts[i]! }))
    await expect(`${JSON.stringify(vectors, null, 1)}\n`).toMatchFileSnapshot('../vectors/step.json')
  },
)
