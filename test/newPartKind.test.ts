import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { LeafPosition, OnRoot, SeriesTask } from '../src/ports/device.ts'
import type * as InProcessBox from './support/inProcessBox.ts'
import type * as ReferenceDevices from './support/openReferenceDevice.ts'
import type * as ProblemOf from './support/problemOf.ts'
import { testEngine } from './support/testEngine.ts'
import type * as VerifyInProcess from './support/verifyInProcess.ts'

const root = fileURLToPath(new URL('..', import.meta.url))
const copy = mkdtempSync(join(tmpdir(), 'touchstone-new-kind-'))
afterAll(() => rmSync(copy, { recursive: true }))

const replaced = (text: string, ...changes: readonly (readonly [string, string])[]): string =>
  changes.reduce((sofar, [from, to]) => {
    expect(sofar).toContain(from)
    return sofar.replaceAll(from, to)
  }, text)

/** The program with one more kind of part: its file, and its line in the registry with the import. Nothing else. */
beforeAll(() => {
  for (const folder of ['src', 'test/support', 'test/sim'])
    cpSync(join(root, folder), join(copy, folder), { recursive: true })
  for (const folder of ['node_modules', 'catalogue', 'kernels']) symlinkSync(join(root, folder), join(copy, folder))
  const kind = readFileSync(join(root, 'test/support/twicePart.ts'), 'utf8')
  writeFileSync(join(copy, 'src/core/proof/parts/twice.ts'), replaced(kind, ['../../src/core/proof/', '../']))
  const registry = readFileSync(join(root, 'src/core/proof/partKinds.ts'), 'utf8')
  const line = "import { rounds } from './parts/rounds.ts'\n"
  const extended = replaced(
    registry,
    [line, `${line}import { twice } from './parts/twice.ts'\n`],
    ['memories]', 'memories, twice]'],
  )
  writeFileSync(join(copy, 'src/core/proof/partKinds.ts'), extended)
})

async function kit() {
  const load = (name: string) => import(join(copy, 'test/support', `${name}.ts`))
  const { verifyInProcess } = (await load('verifyInProcess')) as typeof VerifyInProcess
  const { honestProgram } = (await load('inProcessBox')) as typeof InProcessBox
  const { ReferenceDevice } = (await load('openReferenceDevice')) as typeof ReferenceDevices
  const { problemOf } = (await load('problemOf')) as typeof ProblemOf
  const { shippedCatalogue } = await import('./sim/shippedCatalogue.ts')
  const [engine, catalogue] = [await testEngine(), await shippedCatalogue()]
  const verify = (devices: ReferenceDevices.ReferenceDevice[]) =>
    verifyInProcess({ program: honestProgram({ devices }), catalogue, engine, options: { memory: true } })
  return { verify, ReferenceDevice, engine, check: (text: string) => problemOf(text, { engine, catalogue }) }
}

test('a new kind of part is a file and a line: it is planned, run, opened, judged and checked', async () => {
  const { verify, ReferenceDevice, engine, check } = await kit()
  const report = await verify([1, 2].map(() => new ReferenceDevice({ engine })))
  expect(report.judgement.reason).toBeNull()
  const { payload } = JSON.parse(report.certificate)
  const { predicate } = JSON.parse(atob(payload))
  expect(new Set(predicate.figures.map(({ kind }: { kind: string }) => kind))).toContain('twice')
  expect(await check(report.certificate)).toBeNull()
})

test('and who does only the first half of it is caught in it', async () => {
  const { verify, ReferenceDevice, engine } = await kit()
  class DoesItOnce extends ReferenceDevice {
    #before: Uint8Array | null = null
    override async runSeries(task: SeriesTask, onRoot: OnRoot, signal: AbortSignal): Promise<void> {
      await super.runSeries({ ...task, seed: this.#before ?? task.seed }, onRoot, signal)
      this.#before = task.seed
    }
    override openSeries(asked: readonly LeafPosition[], signal: AbortSignal): Promise<Uint8Array> {
      this.#before = null
      return super.openSeries(asked, signal)
    }
  }
  const { judgement, certificate } = await verify([new DoesItOnce({ engine })])
  const { predicate } = JSON.parse(atob(JSON.parse(certificate).payload))
  expect(judgement.reason?.code).toBe('OPENING_DOES_NOT_REACH_ROOT')
  expect(predicate.figures[judgement.reason!.part!].kind).toBe('twice')
})

test('few files name a kind of part; the device port and its drivers have words of their own', () => {
  const names = ['rounds', 'memory', 'bind', 'link'].join('|')
  const named = new RegExp(`\\b(kind|role)\\b.*'(${names})'|\\bof\\('(${names})'\\)|parts/(${names})\\.ts`)
  const own = /^(core\/proof\/(parts\/|partKinds|deviceTask)|drivers\/gpu\/)|\.test\.ts$/
  const files = readdirSync(join(root, 'src'), { recursive: true, encoding: 'utf8' }).filter((file) =>
    file.endsWith('.ts'),
  )
  const naming = files.filter((file) => !own.test(file) && named.test(readFileSync(join(root, 'src', file), 'utf8')))
  expect(naming.sort()).toEqual([
    'apps/bench/compareProduct.ts',
    'core/certificate/measuredDevices.ts',
    'core/proof/planRun.ts',
  ])
})
