import { deepStrictEqual, ok, strictEqual } from 'node:assert'

/** As much of vitest as the port suites use, for machines where only a bundle runs. */
type Work = () => unknown

interface Suite {
  readonly name: string
  readonly before: Work[]
  readonly after: Work[]
  readonly tests: { name: string; work: Work }[]
}

const suites: Suite[] = []
let current: Suite | null = null

export function describe(name: string, body: Work): void {
  current = { name, before: [], after: [], tests: [] }
  suites.push(current)
  body()
  current = null
}
describe.skipIf = (skip: boolean) => (name: string, body: Work) => {
  if (skip) console.log(`skipped ${name}`)
  else describe(name, body)
}

export const beforeAll = (work: Work) => current!.before.push(work)
export const afterAll = (work: Work) => current!.after.push(work)
export const afterEach = (work: Work) => current!.after.push(work)

export function test(name: string, work: Work): void {
  current!.tests.push({ name, work })
}
test.each =
  <T>(cases: readonly T[]) =>
  (name: string, work: (value: T) => unknown) => {
    for (const one of cases) test(name.replace(/%\w/, JSON.stringify(one) ?? ''), () => work(one))
  }
test.skipIf = (skip: boolean) => (name: string, work: Work) => {
  if (!skip) test(name, work)
}

function matchers(value: unknown) {
  return {
    toBe: (other: unknown) => strictEqual(value, other),
    toEqual: (other: unknown) => deepStrictEqual(value, other),
    toMatch: (pattern: RegExp) => ok(pattern.test(String(value)), `${value} does not match ${pattern}`),
    toContain: (part: unknown) => ok((value as unknown[]).includes(part), `${value} does not contain ${part}`),
    toHaveLength: (length: number) => strictEqual((value as unknown[]).length, length),
    toBeGreaterThan: (other: number) => ok((value as number) > other),
    toBeLessThanOrEqual: (other: number) => ok((value as number) <= other),
    toBeInstanceOf: (kind: new (...args: never[]) => unknown) => ok(value instanceof kind, `got ${String(value)}`),
  }
}

async function reasonOf(work: unknown): Promise<unknown> {
  try {
    await work
  } catch (reason) {
    return reason
  }
  throw new Error('it did not reject')
}

export function expect(value: unknown) {
  return {
    ...matchers(value),
    not: { toBe: (other: unknown) => ok(value !== other) },
    rejects: {
      toBe: async (other: unknown) => strictEqual(await reasonOf(value), other),
      toThrow: async () => void (await reasonOf(value)),
    },
  }
}
expect.unreachable = () => {
  throw new Error('must not be reached')
}

/** Runs what was described; the number of failures. */
export async function runSuites(): Promise<{ passed: number; failed: number }> {
  let passed = 0
  let failed = 0
  for (const suite of suites) {
    for (const work of suite.before) await work()
    for (const { name, work } of suite.tests) {
      try {
        await work()
        passed++
        console.log(`  ok   ${name}`)
      } catch (error) {
        failed++
        console.log(`  FAIL ${name}: ${String(error).slice(0, 500)}`)
      }
    }
    for (const work of suite.after) await work()
  }
  return { passed, failed }
}
