import { readdirSync, readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { judgeFault } from '../src/apps/validator/fleet/outcomeOf.ts'
import { faultOf } from '../src/main/run.ts'
import { type FaultRow, faultsOf } from '../src/ports/errors.ts'

const root = new URL('../src/', import.meta.url)
const paths = readdirSync(root, { recursive: true, encoding: 'utf8' }).filter((path) => /(?<!\.test)\.ts$/.test(path))
const isTable = (path: string) => path.endsWith('/faults.ts')
/** Without what the API answers its readers, and without questions whether a fault is one of these. */
const texts = paths
  .filter((path) => !path.startsWith('apps/api'))
  .map((path) => readFileSync(new URL(path, root), 'utf8').replace(/\.is\([^)]*\)/g, ''))

/** The rows of every table there is, each with its file. */
const all = (
  await Promise.all(
    paths.filter(isTable).map(async (path) => {
      const named: Record<string, unknown> = await import(new URL(path, root).href)
      const table = (named.fault ?? named.portFault) as { readonly rows: Readonly<Record<string, FaultRow>> }
      return Object.entries(table.rows).map(([code, row]) => ({ path, code, row }))
    }),
  )
).flat()

test('attack 80: no table names a code that nobody emits', () => {
  const emitted = (code: string) => texts.some((text) => text.includes(`'${code}'`))
  expect(emitted('NOBODY_SAYS_THIS')).toBe(false)
  expect(all.filter(({ code }) => !emitted(code))).toEqual([])
  expect(all.length).toBeGreaterThan(100)
})

test('attack 80: every code that says a card or a box is busy stands in the one table that a prover may quote', () => {
  expect(all.filter(({ row, code }) => (row.fleet === 'busy') !== code.endsWith('_BUSY'))).toEqual([])
  expect(all.filter(({ row, path }) => row.fleet === 'busy' && path !== 'ports/faults.ts')).toEqual([])
})

describe('attack 367: a fault on the way to a box that speaks in the words of the box', () => {
  const SAID_BY_IT = ['words', 'folder', 'machine']
  const OURS =
    'address during directory expected freeBytes got host limitBytes limitMs means mend needBytes node path said text tried unless what where why'
  const rows = all.filter(({ path }) => path === 'drivers/remote/faults.ts')
  const namesIn = ({ message, nextStep }: FaultRow) =>
    [...`${message} ${nextStep}`.matchAll(/\{(\w+)\}/g)].map(([, name]) => name!)

  test('every fact in it is known to be ours, or to be said by the box', () => {
    const known = [...SAID_BY_IT, ...OURS.split(' ')]
    expect(rows.flatMap(({ row }) => namesIn(row)).filter((name) => !known.includes(name))).toEqual([])
  })

  test.each(
    rows.flatMap(({ code, row }) => namesIn(row).flatMap((name) => (SAID_BY_IT.includes(name) ? [[code, name]] : []))),
  )('%s has {%s} between quotation marks wherever it is made', (code, name) => {
    const made = texts.flatMap((text) => [...text.matchAll(new RegExp(`ault\\('${code}', \\{[^}]*`, 'g'))])
    expect(made).not.toEqual([])
    for (const [facts] of made) expect(facts).toMatch(new RegExp(`\\b${name}: (boxWords|faultWords|itSaid)\\(`))
  })
})

test('what only our own set-up can cause is never blamed on the prover', () => {
  expect(all.filter(({ row }) => row.fleet === 'ours' && row.blame === 'prover')).toEqual([])
})

test('a code that stands in two tables means the same to a fleet', () => {
  const views = new Map<string, Set<string>>()
  for (const { code, row } of all) views.set(code, (views.get(code) ?? new Set()).add(row.fleet ?? 'failed'))
  expect([...views].filter(([, of]) => of.size > 1)).toEqual([])
})

test('a new fault is one row: its words, its blame and what a fleet makes of it follow from there', () => {
  const fault = faultsOf({
    BOX_ON_FIRE: { blame: 'prover', retry: true, fleet: 'stalled', message: '{box} burns', nextStep: 'Leave {box}.' },
  })
  const error = fault('BOX_ON_FIRE', { box: 'box {why}' }, new Error('smoke'))
  const told = { code: 'BOX_ON_FIRE', blame: 'prover', retry: true }
  expect(faultOf(error)).toEqual({ ...told, message: 'box {why} burns', nextStep: 'Leave box {why}.' })
  expect(judgeFault(error)).toEqual({ outcome: 'unreachable', code: 'BOX_ON_FIRE', stalled: true })
  expect(fault.is(error, 'BOX_ON_FIRE')).toBe(true)
  expect(fault.is(new Error('BOX_ON_FIRE'), 'BOX_ON_FIRE')).toBe(false)
  const unmade = () => {
    // @ts-expect-error: a code that is in no table does not compile
    fault('BOX_ON_ICE', {})
    // @ts-expect-error: neither does asking for one
    fault.is(error, 'BOX_ON_ICE')
    // @ts-expect-error: nor a fault without the facts that its words name
    fault('BOX_ON_FIRE', { house: 1 })
  }
  expect(unmade).toBeTypeOf('function')
})
