import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { alteredCases, caseHash, problemOf, type StepVerdict } from '../support/stepCases.ts'

const VECTORS: readonly { readonly name: string; readonly sha256: string; readonly verdict: StepVerdict }[] =
  JSON.parse(readFileSync(new URL('../vectors/step.json', import.meta.url), 'utf8'))

test('proofs of a transition, right and altered, are judged as a second implementation judged them', async () => {
  const cases = await alteredCases('shared')
  expect(cases.length).toBe(VECTORS.filter(({ name }) => name.startsWith('GPT altered, shared')).length)
  for (const one of cases) {
    const { sha256, verdict } = VECTORS.find(({ name }) => name === one.name)!
    expect(caseHash(one), one.name).toBe(sha256)
    if (verdict === null) expect(problemOf(one), one.name).toBeNull()
    else expect(problemOf(one), one.name).toMatchObject(verdict)
  }
})
