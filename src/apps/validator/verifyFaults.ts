import type { TouchstoneError } from '../../ports/errors.ts'
import type { ProverEnd } from '../../ports/remoteBox.ts'
import { fault } from '../shared/faults.ts'
import type { ProverFault } from './rejection.ts'

/** The prover's own account of why it cannot, before anything counts. */
export const proverFault = ({ code, text }: ProverFault) => fault('PROVER_FAULT', { prover: code, said: text })

export const notReady = (
  what: string,
  expected: string,
  said = '',
  code: 'PROVER_NOT_READY' | 'PROVER_DID_NOT_START' = 'PROVER_NOT_READY',
) => {
  const words = said === '' ? '' : `; its last words: ${said}`
  const mend =
    said === ''
      ? 'Check that the box runs this release and is not overloaded, then run again.'
      : 'Fix what it reports on the box, then run again.'
  return fault(code, { what, expected, said, words, mend })
}

/** A prover that could not even say why: what is left is its exit code and its last words, both the box's. */
export function endedEarly(end: ProverEnd | null, expected: string): TouchstoneError {
  // Nobody can tell a box that cut the line from a network that did.
  if (end?.lost) return fault('BOX_CONNECTION_LOST', { expected })
  const ended = `ended${end === null ? '' : howItEnded(end)}`
  // Before its first word it is the release that does not run, there or nowhere.
  return notReady(ended, expected, end?.said, expected === 'welcome' ? 'PROVER_DID_NOT_START' : 'PROVER_NOT_READY')
}

const howItEnded = ({ code }: ProverEnd): string => {
  if (code === null) return ''
  return code > 128 ? ` by signal ${code - 128}` : ` with exit code ${code}`
}
