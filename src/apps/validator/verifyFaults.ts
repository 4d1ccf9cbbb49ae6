import { TouchstoneError } from '../../ports/errors.ts'
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
