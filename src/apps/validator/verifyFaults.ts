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
