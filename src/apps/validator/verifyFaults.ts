import { TouchstoneError } from '../../ports/errors.ts'
import type { ProverEnd } from '../../ports/remoteBox.ts'
import type { ProverFault } from './rejection.ts'

/** The prover's own account of why it cannot, before anything counts. */
export const proverFault = ({ code, text }: ProverFault) =>
  new TouchstoneError(
    { code: 'PROVER_FAULT', prover: code, said: text },
    {
      message: `the prover cannot go on: ${text} [${code}]`,
      blame: 'prover',
      retry: true,
      nextStep: 'Mend what it says on the box, then run again.',
    },
  )

export const notReady = (
  what: string,
  expected: string,
  said = '',
  code: 'PROVER_NOT_READY' | 'PROVER_DID_NOT_START' = 'PROVER_NOT_READY',
) =>
  new TouchstoneError(
    { code, expected, said },
    {
      message: `the prover ${what} where "${expected}" was expected${said === '' ? '' : `; its last words: ${said}`}`,
      blame: 'prover',
      retry: true,
      nextStep:
        said === ''
          ? 'Check that the box runs this release and is not overloaded, then run again.'
          : 'Mend what it says on the box, then run again.',
    },
  )

/** A prover that could not even say why: what is left is its exit code and its last words, both the box's. */
export function endedEarly(end: ProverEnd | null, expected: string): TouchstoneError {
  if (end?.lost) return lineLost(expected)
  const ended = `ended${end === null ? '' : howItEnded(end)}`
  // Before its first word it is the release that does not run, there or nowhere.
  return notReady(ended, expected, end?.said, expected === 'welcome' ? 'PROVER_DID_NOT_START' : 'PROVER_NOT_READY')
}

const howItEnded = ({ code }: ProverEnd): string => {
  if (code === null) return ''
  return code > 128 ? ` by signal ${code - 128}` : ` with exit code ${code}`
}

/** Nobody can tell a box that cut the line from a network that did. */
const lineLost = (expected: string) =>
  new TouchstoneError(
    { code: 'BOX_CONNECTION_LOST', expected },
    {
      message: `the connection to the box was lost where "${expected}" was expected`,
      blame: 'network',
      retry: true,
      nextStep: 'The box may be rebooting or the network may be down: try again in a minute.',
    },
  )

export const noDevices = () =>
  new TouchstoneError(
    { code: 'NO_DEVICES' },
    {
      message: 'the box offers no device',
      blame: 'prover',
      retry: false,
      nextStep: 'Check the driver on the box, or add --devices cpu.',
    },
  )

/** Without this a box that claims no precision would be asked nothing, and have nothing to fail (attack 42). */
export const nothingToAsk = () =>
  new TouchstoneError(
    { code: 'NOTHING_TO_ASK' },
    {
      message: 'the box offers none of the precisions asked for',
      blame: 'prover',
      retry: false,
      nextStep: 'Ask for other precisions, or for the memory or bind part.',
    },
  )
