import { readFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'

const root = fileURLToPath(new URL('..', import.meta.url))
const read = (path: string) => readFileSync(join(root, path), 'utf8')

/** Where the two programs begin: nothing in the list imports these. */
const STARTS = ['src/main/verify/verifyTarget.ts', 'src/apps/prover/serveProver.ts']

/** The files that the section "Reading path" of docs/architecture.md lists, in its order. */
function readingPath(): string[] {
  const section = /^## Reading path\n(.*?)^## /ms.exec(read('docs/architecture.md'))![1]!
  return [...section.matchAll(/^\d+\. `(src\/[^`]+\.ts)`/gm)].map(([, path]) => path!)
}

const importsOf = (path: string): string[] =>
  [...read(path).matchAll(/from '(\.[^']+)'/g)].map(([, to]) => normalize(join(dirname(path), to!)))

test('the reading path of verify has at most 30 files, each imported by one before it', () => {
  const path = readingPath()
  expect(path.length).toBeGreaterThan(20)
  expect(path.length).toBeLessThanOrEqual(30)
  expect(new Set(path).size).toBe(path.length)
  const known = new Set(STARTS)
  for (const file of path) {
    expect(known, `${file} is imported by nothing before it`).toContain(file)
    for (const imported of importsOf(file)) known.add(imported)
  }
})
