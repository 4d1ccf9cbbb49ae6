import { faultsOf } from '../../ports/errors.ts'

/** Every fault of this folder. */
export const fault = faultsOf({
  CHAIN_NOT_REPLAYED: {
    blame: 'user',
    message: 'the stored chain does not lead to its block {id}: {why}',
    nextStep: 'Check the disk. Move the chain folder away and sync again; keys are not in it.',
  },
})
