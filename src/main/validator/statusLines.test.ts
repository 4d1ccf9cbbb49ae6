import fc from 'fast-check'
import { expect, test } from 'vitest'
import { STATUSES } from '../../core/schedule/boxState.ts'
import { CPU_MODEL } from '../../core/schedule/fleetRecords.ts'
import { type BoxLine, boxLineOf, boxTable, ofOneWindow, SORTS, showStatus } from './statusLines.ts'

const round = {
  number: 7,
  openedAt: '2026-01-01T00:00:00.000Z',
  height: null,
  settled: true,
  jobs: 2,
  done: 1,
  accepted: 1,
  rejected: 0,
}
const told = {
  program: 'touchstone 0.1.0',
  time: '2026-01-01T00:00:00.000Z',
  round,
  queue: { waiting: 1, held: 0, done: 1, lagSeconds: 2 },
  boxes: 3,
  byStatus: { new: 3 },
  byClaimVerdict: {},
  resultsLastHour: 0,
}
const line: BoxLine = {
  id: 'box-1',
  provider: 'alice',
  status: 'verified',
  claim: null,
  claimVerdict: null,
  allocated: false,
  model: '8x H100 SXM',
  score: 812,
  reason: '',
  lastRunAt: null,
}
const box = {
  ...line,
  addedAt: '',
  terms: [],
  scoredAt: null,
  since: 7,
  failuresInRow: 0,
  failuresTotal: 0,
  busyInRow: 0,
  verifiedTotal: 0,
  missed: 0,
  current: true,
  stalls: 0,
  lastResult: null,
  last: null,
  models: [],
  scoreNow: 5,
}
const at = '2026-01-01T00:00:00.000Z'

test('the validator as a whole, in lines of at most 80 columns', () => {
  const lines = showStatus(told)
  expect(lines.join('\n')).toMatch(/boxes {7}3 \(3 new\)\n(.*\n)*round {7}7, opened/)
  expect(Math.max(...lines.map(({ length }) => length))).toBeLessThanOrEqual(80)
  expect(showStatus({ ...told, round: null }).join('\n')).toContain('none yet')
})

test.each([
  ['a box nobody has looked at', {}, 'verified', ''],
  [
    'one that failed three times',
    { last: { outcome: 'unreachable', code: 'BOX_TIMEOUT', at }, failuresInRow: 3 },
    'failed',
    'BOX_TIMEOUT (3 in a row)',
  ],
  ['one that is not what it was sold as', { claimVerdict: 'different' }, 'claim-unmet', 'claim different'],
  ['one that somebody holds', { last: { outcome: 'busy', code: null, at }, busyInRow: 2 }, 'busy', 'busy (2 in a row)'],
  ['a new one', {}, 'new', 'no full run yet'],
  [
    'a verified one that missed its window',
    { last: { outcome: 'void', code: 'WINDOW_MISSED', at } },
    'verified',
    'WINDOW_MISSED',
  ],
  ['a verified one that earns nothing', { scoreNow: 0 }, 'verified', 'no recent run: earns nothing'],
  ['one without a GPU', { scoreNow: 0, models: [CPU_MODEL] }, 'verified', 'a CPU earns nothing'],
  [
    'one that others have earned without',
    { current: false, scoreNow: 0 },
    'verified',
    'was not in the last window: earns again in the next',
  ],
  ['a rented one', { allocated: true }, 'verified', 'rented'],
] as const)('%s has its reason', (_, more, status, reason) => {
  expect(boxLineOf({ ...box, status, ...more }).reason).toBe(reason)
})

test('attack 305: of boxes that were read while a window ended, those of the window before count no longer', () => {
  const boxes = [box, { ...box, since: 6 }, { ...box, since: 6, scoreNow: 0 }, { ...box, since: null }]
  const lines = ofOneWindow(boxes).map(boxLineOf)
  expect(lines.map(({ score }) => score)).toEqual([5, 0, 0, 0])
  expect(lines[1]!.reason).toContain('not in the last window')
})

test('equal devices are counted, and one that fits no card is called unknown', () => {
  expect(boxLineOf({ ...box, models: ['H100 SXM', 'H100 SXM', null] }).model).toBe('2x H100 SXM, unknown')
  expect(boxLineOf({ ...box, models: ['CPU', 'CPU'] }).model).toBe('no GPU (CPU only)')
  expect(boxLineOf({ ...box, models: ['H100 SXM', 'CPU'] }).model).toBe('H100 SXM, CPU')
  expect(boxLineOf(box).model).toBe('-')
})

test('what needs a person comes first, unless asked otherwise', () => {
  const boxes = STATUSES.map((status, i) => ({ ...line, id: `b${i}`, status, score: i }))
  expect([...boxes].sort(SORTS.state).map(({ status }) => status)).toEqual([
    'failed',
    'claim-unmet',
    'busy',
    'new',
    'verified',
  ])
  expect([...boxes].sort(SORTS.score).map(({ score }) => score)).toEqual([4, 3, 2, 1, 0])
})

test('a table of a few boxes', () => {
  const other = { ...line, id: 'gpu-2', status: 'failed', model: '-', score: 0, reason: 'BOX_TIMEOUT' } as const
  expect(boxTable([other, line], 80).join('\n')).toBe(
    [
      'BOX    STATE     MODEL        SCORE  REASON',
      'gpu-2  failed    -                0  BOX_TIMEOUT',
      'box-1  verified  8x H100 SXM    812',
    ].join('\n'),
  )
})

test('whatever boxes are called, no row is wider than the terminal', () => {
  const some = fc.record({
    id: fc.string({ minLength: 1, maxLength: 64 }),
    status: fc.constantFrom(...STATUSES),
    model: fc.string({ maxLength: 100 }),
    score: fc.nat(10_000_000),
    reason: fc.string({ maxLength: 200 }),
  })
  fc.assert(
    fc.property(fc.array(some, { maxLength: 5 }), fc.integer({ min: 80, max: 200 }), (boxes, width) => {
      const rows = boxTable(
        boxes.map((one) => ({ ...line, ...one })),
        width,
      )
      expect(Math.max(...rows.map((row) => [...row].length))).toBeLessThanOrEqual(width)
    }),
  )
})
