import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { ATTEST_DOUBTS } from '../src/core/attest/doubts.ts'
import { REFUSALS } from '../src/core/attest/refusals.ts'
import { CLAIM_CODES } from '../src/core/identify/claimReasons.ts'
import { REASONS } from '../src/core/proof/reasons.ts'

/** The codes in the first column of every table of a document. */
function codesIn(file: string): ReadonlySet<string> {
  const text = readFileSync(new URL(`../docs/spec/${file}`, import.meta.url), 'utf8')
  const cells = [...text.matchAll(/^\| ([^|]+) \|/gm)].map(([, cell]) => cell!)
  return new Set(cells.flatMap((cell) => [...cell.matchAll(/`([A-Z][A-Z0-9_]+)`/g)].map(([, code]) => code!)))
}

test('every code of a rejection and of a claim is in the specification', () => {
  const [certificate, identity] = [codesIn('certificate.md'), codesIn('identity.md')]
  expect(Object.keys(REASONS).filter((code) => !certificate.has(code))).toEqual([])
  expect(Object.keys(CLAIM_CODES).filter((code) => !identity.has(code))).toEqual([])
})

test('every refusal and doubt about what vendors signed is in the specification, and no other', () => {
  const codes = [...Object.keys(REFUSALS), ...Object.keys(ATTEST_DOUBTS)]
  expect([...codesIn('attestation.md')].sort()).toEqual(codes.sort())
})
