import { faultsOf } from '../../ports/errors.ts'

/** Every fault of this folder. */
export const fault = faultsOf({
  HOST_LANE_FAILED: {
    blame: 'prover',
    retry: true,
    message: 'a lane failed: {what}',
    nextStep: 'Check the disk of the box, then run again.',
  },
  HOST_NO_ROOM: {
    blame: 'prover',
    retry: true,
    message: 'the validator asked for {what}',
    nextStep: 'Free some memory or disk, then run again.',
  },
  HOST_ORDER_REFUSED: {
    blame: 'validator',
    message: 'the validator asked for {what}',
    nextStep: 'Use the same release on both sides.',
  },
})
