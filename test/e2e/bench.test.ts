import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { type BenchReport, benchReportSchema } from '../../src/core/bench/benchReport.ts'
import { benchLines, comparedText } from '../../src/main/bench/benchLines.ts'
import { benchPage } from '../../src/main/bench/benchPage.ts'
import { openCommandLine } from '../support/commandLine.ts'
import { commandsOn } from '../support/guide.ts'
import { withOther } from '../support/withOther.ts'

const folder = mkdtempSync(join(tmpdir(), 'touchstone-bench-'))
const state = join(folder, 'state')
const last = join(state, 'touchstone', 'last-bench.json')
const { TOUCHSTONE_HOME: _, ...clean } = process.env
const commands = openCommandLine({ ...clean, HOME: folder, XDG_STATE_HOME: state, NO_COLOR: '1' })
afterAll(async () => {
  await commands.close()
  rmSync(folder, { recursive: true, force: true })
})

const QUICK = ['--devices', 'cpu', '--precisions', 'int8', '--seconds', '0.1', '--size', '64']
const bench = (...more: string[]) => commands.run(['bench', ...QUICK, ...more])
/** As the guide shows them: plain, with a claim and a page, kept, held to what was kept, and one card for longer. */
const [plain, claimed, kept, held, longer] = commandsOn('docs/guides/ml-engineer.md') as [string[], ...string[][]]
const guided = (words: string[] | undefined, ...more: string[]) =>
  commands.run([...words!.map((word) => (/\.(json|html)$/.test(word) ? join(folder, word) : word)), ...QUICK, ...more])
const read = (text: string): BenchReport => benchReportSchema.parse(JSON.parse(text))

/** Every rate of the last run, so many times. */
function earlierFile(name: string, factor: number): string {
  const text = readFileSync(last, 'utf8').replace(/"(provenOpsPerSec|bytesPerSec)":(\d+)/g, (_, key, rate) =>
    JSON.stringify({ [key]: Math.round(factor * Number(rate)) }).slice(1, -1),
  )
  const path = join(folder, name)
  writeFileSync(path, text)
  return path
}

describe('touchstone bench', () => {
  test('measures, says that a CPU has no range, ends with 4, and keeps the run in the XDG state folder', async () => {
    const { stdout, status } = await guided(kept)
    writeFileSync(join(folder, 'monday.json'), stdout)
    expect(status).toBe(4)
    expect(read(stdout)).toMatchObject({
      verdict: 'not-judged',
      devices: [{ class: 'cpu', products: [{ precision: 'int8', size: 64 }], transfers: null, model: null }],
      notes: [{ code: 'IS_A_CPU' }],
      against: null,
    })
    expect(read(readFileSync(last, 'utf8'))).toEqual(read(stdout))
  })

  test('shows the last run beside this one and is not held to it; writes a page that runs and loads nothing', async () => {
    const page = join(folder, 'bench.html')
    const { stdout, status } = await guided(plain, '--html', page)
    expect(status).toBe(4)
    expect(stdout).toMatch(/^NOT JUDGED {2}/)
    expect(stdout).toMatch(/since then +[+-][\d.]+ %/)
    expect(stdout).toMatch(/compared +with \d{4}-/)
    expect(stdout.split('\n').filter((line) => line.length > 80)).toEqual([])
    const html = readFileSync(page, 'utf8')
    expect(html).toMatch(/<svg .*<rect class="unjudged"/)
    expect(html).not.toMatch(/<script|<link|<img|https?:|url\(/)
  })

  test('is held to a run that was named: a slower one fails, an equal one does not', async () => {
    const slower = await bench('--against', earlierFile('faster.json', 1000))
    // This machine may have other work to do than on Monday.
    expect(await guided(held, '--tolerance', '90')).toMatchObject({ status: 4 })
    expect(slower.stdout.replace(/\s+/g, ' ')).toMatch(
      /compared with .* UTC: \d+ of \d+ figures differ by more than 15 %/,
    )
    expect(slower).toMatchObject({
      status: 1,
      stdout: expect.stringMatching(/^FAIL .*down\s+from .*\[SLOWER_THAN_BEFORE\]/s),
    })
  })

  test('attack 264: a run of another machine is nothing to be held to, and that is said', async () => {
    const foreign = join(folder, 'foreign-run.json')
    writeFileSync(foreign, readFileSync(last, 'utf8').replace(/"name":"[^"]*"/, '"name":"NVIDIA H200"'))
    const { stdout, status } = await bench('--json', '--against', foreign)
    const { notes } = JSON.parse(stdout) as BenchReport
    expect([status, notes.map(({ code }) => code)]).toEqual([4, ['NOT_COMPARED', 'IS_A_CPU']])
  })

  test.each([
    ['is not there', () => join(folder, 'none.json')],
    ['is a folder', () => folder],
    ['is no JSON', () => written('PASS')],
    ['is of another form', () => written('{"format":2}')],
    ['is too large', () => written(' '.repeat(2 ** 21 + 1))],
    [
      'has a figure that is none',
      () => written(readFileSync(last, 'utf8').replace(/"seconds":[\d.]+/, '"seconds":"?"')),
    ],
  ])('a file to compare with that %s is refused before anything is measured', async (_, file) => {
    const before = readFileSync(last)
    const { stdout, status } = await bench('--json', '--against', file())
    expect(status).toBe(2)
    expect(JSON.parse(stdout)).toMatchObject({ error: { code: 'NOT_A_BENCH' } })
    expect(readFileSync(last)).toEqual(before)
  })

  test('a claim needs a card, a page a folder, a claim a name that exists', async () => {
    expect(await guided(claimed)).toMatchObject({
      status: 3,
      stderr: expect.stringMatching(/should be 8 x H100 SXM, but no GPU .*\[NO_GPU_TO_BENCH\]/s),
    })
    expect(await bench('--claim', 'H1000')).toMatchObject({ status: 2, stderr: expect.stringContaining('[BAD_CLAIM]') })
    const page = join(folder, 'none', 'bench.html')
    expect(await bench('--html', page)).toMatchObject({ status: 2, stderr: expect.stringContaining('[NOT_WRITABLE]') })
    expect(existsSync(join(folder, 'none'))).toBe(false)
  })

  test('a state folder that cannot be written to costs the comparison, not the answer', async () => {
    mkdirSync(join(folder, 'elsewhere'))
    writeFileSync(join(folder, 'elsewhere', 'touchstone'), '')
    expect(longer).toContain('cuda:1')
    const ended = await commands.run(withOther(longer!, QUICK), { XDG_STATE_HOME: join(folder, 'elsewhere') })
    expect(ended).toMatchObject({ status: 4, stdout: expect.not.stringContaining('compared') })
  })
})

function written(text: string): string {
  const path = join(folder, 'foreign.json')
  writeFileSync(path, text)
  return path
}

/** Eight cards as a driver might tell them, one of which is slow and hot. */
function eightCards(): BenchReport {
  const one = read(readFileSync(last, 'utf8')).devices[0]!
  const expected = { low: 800e12, high: 1300e12 }
  const memory = { bytes: 79e9, bytesPerSec: 3.0e12, expected: { low: 2.5e12, high: 3.2e12 } }
  const [product] = one.products
  const names = ['int8', 'fp8', 'bf16', 'fp16', 'fp32'] as const
  const devices = Array.from({ length: 8 }, (_, device) => ({
    ...one,
    device,
    name: 'NVIDIA H100 80GB HBM3',
    class: 'gpu' as const,
    productLibrary: 'cuBLASLt 130100',
    model: { id: 'h100-sxm', name: 'H100 SXM' },
    products: names.map((precision) => ({
      ...product!,
      precision,
      expected,
      provenOpsPerSec: device === 3 ? 500e12 : 1000e12,
      bareOpsPerSec: 1200e12,
    })),
    memory,
    transfers: { pinned: { toCard: 55.1e9, toHost: 54.9e9 }, pageable: { toCard: 11.2e9, toHost: 9.8e9 } },
    watched: {
      ...one.watched,
      samples: 60,
      smClockMhz: { low: 1125, high: 1980 },
      powerWatts: { low: 412, high: 699 },
      powerLimitWatts: 700,
      temperatureC: { low: 45, high: 66 },
      pcieWidth: 16,
      pcieGeneration: 5,
      eccUncorrected: 0,
      xids: device === 3 ? [79] : [],
    },
  }))
  const links = devices.flatMap(({ device: to }) =>
    devices.flatMap(({ device: from }) => (from === to ? [] : [{ from, to, bytesPerSec: 3.6e11, why: null }])),
  )
  const found = { code: 'SLOW', device: 3, figure: 'int8 proven', got: 500e12, expected: 800e12 }
  const words = { meaning: 'slower than such a card should be', nextStep: 'Have it replaced.' }
  const note = { ...found, code: 'POWER_LIMITED', figure: 'clocks', got: '64 % of the time', expected: null, ...words }
  return {
    ...read(readFileSync(last, 'utf8')),
    verdict: 'fail',
    against: null,
    devices,
    links,
    problems: [{ ...found, ...words }],
    notes: devices.map(({ device }) => ({ ...note, device })),
  }
}

test('eight cards read in 80 columns and 60 lines; what holds for all is said once', () => {
  const colours = new Proxy({}, { get: () => (text: string) => text }) as never
  const lines = benchLines(eightCards(), { colours, columns: 80 })
  expect(lines[0]).toMatch(/^FAIL {2}8 x NVIDIA H100 80GB HBM3: slower than such a card should be: int8 proven/)
  expect(lines.filter((line) => line.length > 80)).toEqual([])
  expect(lines.length).toBeLessThanOrEqual(60)
  const narrow = benchLines(eightCards(), { colours, columns: 50 })
  // Words follow the window; tables cannot.
  expect(
    narrow.filter((line) => line.length > 50 && !/^ {2,}(card|\d|least|most|up\/down|TOPS|bare +\d)/.test(line)),
  ).toEqual([])
  expect(lines.at(-2)).toMatch(/^FAIL /)
  expect(lines.filter((line) => line.includes('POWER_LIMITED'))).toHaveLength(1)
  expect(lines.join('\n')).toContain('all cards: ')
  expect(lines.join('\n')).toMatch(/^ {2}3 proven +!500/m)
  expect(lines.join('\n')).toMatch(/^ +3 +55.1\/54.9 +11.2\/9.80 +1125-1980 +412-699\/700 +45-66 +5 x16 +0 +79$/m)
})

test('whatever a driver calls a card stays text on the page', () => {
  const report = eightCards()
  const name = '<script>alert(1)</script>'
  const page = benchPage({ ...report, devices: report.devices.map((device) => ({ ...device, name })) }, '')
  expect(page).not.toContain('<script')
  expect(page).toContain('&lt;script&gt;')
})

test('a difference between two runs is told from noise', () => {
  const change = (now: number) => ({ device: 0, figure: 'int8 proven', before: 100, now })
  const told = (...now: number[]) =>
    comparedText({ startedAt: '2026-01-02T03:04:05.000Z', changes: now.map(change), tolerance: 0.15 })
  expect(told(90, 112)).toBe(
    'with 2026-01-02 03:04 UTC: alike; what differs is within 15 %, as between two runs of one machine',
  )
  expect(told(90, 80, 120)).toMatch(/: 2 of 3 figures differ by more than 15 %; what differs by less is noise$/)
  expect(told()).toBeNull()
})
