import { expect, test } from 'vitest'
import { DecodeError } from '../../../core/bytes/reader.ts'
import { fault as remoteFault } from '../../../drivers/remote/faults.ts'
import { fault as systemFault } from '../../../drivers/system/faults.ts'
import { faultsOf } from '../../../ports/errors.ts'
import { portFault } from '../../../ports/faults.ts'
import { fault } from '../../shared/faults.ts'
import { judgeFault, refusedAsBusy } from './outcomeOf.ts'

const outcome = (error: unknown, releaseRuns = true) => judgeFault(error, releaseRuns).outcome
const saidBy = (code: string) => fault('PROVER_FAULT', { prover: code, said: '', words: '' })
const notStarted = fault('PROVER_DID_NOT_START', { what: 'ended', expected: 'welcome', words: '', mend: '' })
const changed = { address: 'a', path: 'p', got: 'g', expected: 'e' }

test('a box cannot hide behind a fault: only what our own set-up can cause is ours', () => {
  const address = 'ssh://a'
  expect(outcome(remoteFault('BOX_UNREACHABLE', { address, why: '' }))).toBe('unreachable')
  expect(outcome(remoteFault('SSH_AUTH_FAILED', { address, means: '' }))).toBe('unreachable')
  expect(outcome(remoteFault('HOST_KEY_REVOKED', { address, got: '' }))).toBe('unreachable')
  expect(outcome(fault('CALIBRATION_FAILED', { why: '' }))).toBe('unreachable')
  expect(outcome(remoteFault('SSH_KEY_UNREADABLE', { path: '', why: '' }))).toBe('fault')
  expect(outcome(systemFault('KERNEL_FILE_MISSING', { name: '' }))).toBe('fault')
  const any = faultsOf({ ANYTHING: { blame: 'validator', message: '', nextStep: '' } })
  expect(outcome(any('ANYTHING'))).toBe('fault')
  expect(judgeFault(new TypeError('words')).code).toBe('UNEXPECTED')
})

test('attack 63: the name of a fault of ours in the mouth of a box, or bytes that cannot be read, are the failure of the box', () => {
  expect(outcome(saidBy('KERNEL_FILE_MISSING'))).toBe('unreachable')
  expect(outcome(remoteFault('LEASE_REFUSED', { words: '', said: 'KERNEL_FILE_MISSING', mend: '' }))).toBe(
    'unreachable',
  )
  const unreadable = { outcome: 'unreachable', code: 'UNREADABLE', stalled: false }
  expect(judgeFault(new DecodeError('connection details: not JSON'))).toEqual(unreadable)
})

test('attack 432: a look that finds no room on a card has found it at work; a full proof has not', () => {
  expect(judgeFault(saidBy('OUT_OF_MEMORY'), true, 'light')).toMatchObject({ outcome: 'busy', code: 'OUT_OF_MEMORY' })
  expect(judgeFault(saidBy('OUT_OF_MEMORY'), true, 'full').outcome).toBe('unreachable')
  for (const got of ['OUT_OF_MEMORY', 'GPU_BUSY'])
    expect(refusedAsBusy({ code: 'REFUSED', detail: { got } })).toBe(true)
  expect(refusedAsBusy({ code: 'REFUSED', detail: { got: 'PROVER_FAULT' } })).toBe(false)
  expect(refusedAsBusy({ code: 'LATE_ROOT', detail: { got: 'GPU_BUSY' } })).toBe(false)
})

test('attack 80: busy is what says that a card or a box is busy, in the mouth of a prover too, and nothing else', () => {
  expect(outcome(portFault('BOX_BUSY', { taken: '' }))).toBe('busy')
  expect(outcome(portFault('GPU_BUSY', { what: '', mend: '' }))).toBe('busy')
  for (const code of ['BOX_BUSY', 'GPU_BUSY', 'DEVICE_BUSY'])
    expect(judgeFault(saidBy(code))).toEqual({ outcome: 'busy', code, stalled: false })
  for (const code of ['TIRED', 'DEVICE_CLOSED', 'toString']) expect(outcome(saidBy(code))).toBe('unreachable')
})

test('attack 80: a release that cannot be read is ours; one that does not start is ours until a box has started it', () => {
  expect(outcome(remoteFault('BAD_RELEASE', { directory: '', why: '' }))).toBe('fault')
  for (const error of [notStarted, remoteFault('PROVER_HASH_MISMATCH', changed)])
    expect([outcome(error, false), outcome(error)]).toEqual(['fault', 'unreachable'])
  // A prover that names such a code has started.
  expect(outcome(saidBy('PROVER_DID_NOT_START'), false)).toBe('unreachable')
})

test('a box that kept us waiting for nothing stalled; a light look has no window to miss', () => {
  expect(judgeFault(fault('BOX_STALLED'))).toEqual({ outcome: 'unreachable', code: 'BOX_STALLED', stalled: true })
  expect(judgeFault(fault('WINDOW_MISSED'))).toMatchObject({ outcome: 'void', stalled: true })
  expect(judgeFault(fault('WINDOW_MISSED'), true, 'light').outcome).toBe('unreachable')
  expect(judgeFault(saidBy('BOX_STALLED')).stalled).toBe(false)
})
