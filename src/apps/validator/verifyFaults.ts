import { TouchstoneError } from '../../ports/errors.ts'

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
