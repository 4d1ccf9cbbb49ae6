import { faultsOf } from '../../ports/errors.ts'

/** Every fault of this folder. */
export const fault = faultsOf({
  NO_BLOCK_HEIGHT: {
    blame: 'network',
    retry: true,
    message: 'the chain does not report its height',
    nextStep: 'Check the address under rounds.heightUrl; no round opens until it answers.',
  },
})
