import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'

interface Entry {
  readonly dependencies?: Readonly<Record<string, string>>
  readonly devDependencies?: Readonly<Record<string, string>>
  readonly optionalDependencies?: Readonly<Record<string, string>>
}

const text = readFileSync(new URL('../package-lock.json', import.meta.url), 'utf8')
const packages: Readonly<Record<string, Entry>> = JSON.parse(text).packages

/** Where Node looks for a package that `from` asks for: beside it, then one node_modules further out each time. */
function isLocked(from: string, name: string): boolean {
  const path = from === '' ? `node_modules/${name}` : `${from}/node_modules/${name}`
  if (path in packages) return true
  return from !== '' && isLocked(from.slice(0, Math.max(0, from.lastIndexOf('/node_modules/'))), name)
}

test('the lockfile has every package that is asked for, on every platform: else npm ci refuses a fresh clone', () => {
  const missing = Object.entries(packages).flatMap(([from, entry]) =>
    Object.keys({ ...entry.dependencies, ...entry.devDependencies, ...entry.optionalDependencies })
      .filter((name) => !isLocked(from, name))
      .map((name) => `${name}, for ${from}`),
  )
  expect(missing).toEqual([])
})

test('the lockfile names no registry', () => {
  expect(text).not.toContain('"resolved"')
})
