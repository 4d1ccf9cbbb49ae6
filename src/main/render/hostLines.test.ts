import { expect, test } from 'vitest'
import type { HostPart } from '../../core/inventory/hostReport.ts'
import { hostLines } from './boxLines.ts'

const cpu: HostPart = {
  part: 'cpu',
  source: 'proven',
  bytesPerSec: 370e9,
  lanes: 15,
  of: 16,
  storedBytes: 32_768,
  pastCache: false,
  inWindow: true,
  problem: null,
}
const text = (part: HostPart) =>
  hostLines(part)
    .map((row) => row.trim())
    .join(' ')

test('a host part says what it is worth and what could have stood in', () => {
  expect(text(cpu)).toBe(
    'processor      proven: 370 GB/s looked up in 15 of 16 lanes while every device was at work; no card walks a lane faster than 10.2 GB/s, so none could have done it for the processor',
  )
  expect(text({ ...cpu, source: 'measured' })).toContain(
    'measured: 370 GB/s looked up in 15 of 16 lanes; no lane was faster',
  )
  expect(text({ ...cpu, source: 'measured', inWindow: false })).toContain('not while every device was at work')
  const read = { ...cpu, source: 'measured', storedBytes: 2 ** 30, lanes: 1, of: 1 } as const
  expect(text({ ...read, part: 'memory' })).toContain(
    'from 1.0 GiB, hashed in 1 lane; a card could have stood in for it',
  )
  expect(text({ ...read, part: 'disk' })).toContain(
    'through the cache as the box says; memory could have stood in for it',
  )
  const problem = { code: 'HOST_SILENT', text: 'no answer', nextStep: 'Run again.' }
  expect(text({ ...read, part: 'disk', problem })).toBe('disk           not shown: no answer [HOST_SILENT]. Run again.')
})
