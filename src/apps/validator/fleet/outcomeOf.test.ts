import { readdirSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { DecodeError } from '../../../core/bytes/reader.ts'
import { TouchstoneError } from '../../../ports/errors.ts'
import { FAULTS, judgeFault } from './outcomeOf.ts'

const fault = (detail: { code: string; prover?: string }, blame: 'user' | 'prover' | 'validator' | 'network') =>
  judgeFault(new TouchstoneError(detail, { message: '', blame, retry: true, nextStep: '' })).outcome

test('a box cannot hide behind a fault: only what our own set-up can cause is ours', () => {
  expect(fault({ code: 'BOX_UNREACHABLE' }, 'network')).toBe('unreachable')
  expect(fault({ code: 'SSH_AUTH_FAILED' }, 'user')).toBe('unreachable')
  expect(fault({ code: 'HOST_KEY_CHANGED' }, 'network')).toBe('unreachable')
  expect(fault({ code: 'CALIBRATION_FAILED' }, 'prover')).toBe('unreachable')
  expect(fault({ code: 'SSH_KEY_UNREADABLE' }, 'user')).toBe('fault')
  expect(fault({ code: 'ANYTHING' }, 'validator')).toBe('fault')
  expect(judgeFault(new TypeError('words')).code).toBe('UNEXPECTED')
})

test('row 63: the name of a fault of ours in the mouth of a box, or bytes that cannot be read, are the failure of the box', () => {
  expect(fault({ code: 'KERNEL_FILE_MISSING' }, 'prover')).toBe('unreachable')
  expect(judgeFault(new DecodeError('connection details: not JSON'))).toEqual({
    outcome: 'unreachable',
    code: 'UNREADABLE',
  })
})

test('busy is what the box says before the clock runs, and nothing else', () => {
  expect(fault({ code: 'PROVER_FAULT', prover: 'DEVICE_BUSY' }, 'prover')).toBe('busy')
  expect(fault({ code: 'BOX_BUSY' }, 'prover')).toBe('busy')
  expect(fault({ code: 'PROVER_FAULT', prover: 'TIRED' }, 'prover')).toBe('unreachable')
})

const source = new URL('../../../', import.meta.url)
const sources = readdirSync(source, { recursive: true, encoding: 'utf8' })
  // What the API answers its readers is no fault of a run.
  .filter((path) => /(?<!\.test|outcomeOf)\.ts$/.test(path) && !path.startsWith('apps/api'))
  .map((path) => readFileSync(new URL(path, source), 'utf8'))
const emitted = (code: string) => sources.some((text) => text.includes(`'${code}'`))

test('row 80: the table names no code that nobody emits', () => {
  expect(emitted('NOBODY_SAYS_THIS')).toBe(false)
  expect(Object.keys(FAULTS).filter((code) => !emitted(code))).toEqual([])
})

test('row 80: whatever says that a card or a box is busy is busy, in the mouth of a prover too', () => {
  const said = new Set(sources.flatMap((text) => [...text.matchAll(/'([A-Z_]*BUSY)'/g)].map(([, code]) => code!)))
  expect([...said].sort()).toEqual(['BOX_BUSY', 'DEVICE_BUSY', 'GPU_BUSY'])
  for (const code of said) {
    expect(fault({ code: 'PROVER_FAULT', prover: code }, 'prover')).toBe('busy')
    expect(fault({ code }, 'prover')).toBe('busy')
  }
})

test('row 80: a release that cannot be read is ours; one that does not start is ours until a box has started it', () => {
  const judged = (code: string, runs: boolean) =>
    judgeFault(new TouchstoneError({ code }, { message: '', blame: 'prover', retry: true, nextStep: '' }), runs).outcome
  expect(fault({ code: 'BAD_RELEASE' }, 'user')).toBe('fault')
  for (const code of ['PROVER_DID_NOT_START', 'PROVER_HASH_MISMATCH'])
    expect([judged(code, false), judged(code, true)]).toEqual(['fault', 'unreachable'])
  // A prover that names such a code has started.
  expect(fault({ code: 'PROVER_FAULT', prover: 'PROVER_DID_NOT_START' }, 'prover')).toBe('unreachable')
})
