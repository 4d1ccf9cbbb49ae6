import { expect, test } from 'vitest'
import { eventLines } from './eventLines.ts'

const at = new Date('2026-01-02T03:04:05.678Z')
const key = 'ab'.repeat(32)

test('a line has its time, what happened, and the facts', () => {
  expect(eventLines(at, { event: 'closed', id: '0f', why: '' })).toEqual(['2026-01-02 03:04:05 closed  id 0f'])
})

test('what a provider says is at most 100 columns wide, and an address stays whole', () => {
  const address = `lease://gpu-1.example.org:7878#${key}`
  const lines = eventLines(at, { event: 'listening', port: 7878, key, confinement: 'own account', address })
  expect(lines).toEqual([
    '2026-01-02 03:04:05 listening  port 7878',
    `  key ${key}  confinement own account`,
    `  ${address}`,
  ])
  const opened = {
    event: 'opened',
    id: 'cd'.repeat(16),
    purpose: 'rent',
    holder: key,
    until: '2026-01-02T05:04:05.000Z',
  }
  for (const line of [...lines, ...eventLines(at, opened)]) expect(line.length).toBeLessThanOrEqual(100)
})
