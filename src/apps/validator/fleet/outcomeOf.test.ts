import { expect, test } from 'vitest'
import { DecodeError } from '../../../core/bytes/reader.ts'
import { TouchstoneError } from '../../../ports/errors.ts'
import { judgeFault } from './outcomeOf.ts'

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
