import { faultsOf } from '../../ports/errors.ts'

/** Every fault of this folder. */
export const fault = faultsOf({
  CHAIN_CONFLICT: {
    blame: 'network',
    message:
      'two final blocks exclude each other, {mine} and {other}: over a third of the voters has lied, and the node has stopped',
    nextStep:
      'Ask people you trust for a checkpoint, move the chain folder away and start with --checkpoint. Until then make no payment.',
  },
  CHAIN_NOTES_DAMAGED: {
    blame: 'user',
    message: 'what this node noted of its own votes cannot be read',
    nextStep: 'Check the disk. Start without --key, or with another key: voting without these notes can cost the bond.',
  },
  CHAIN_NOT_REPLAYED: {
    blame: 'user',
    message: 'the stored chain does not lead to its block {id}: {why}',
    nextStep: 'Check the disk. Move the chain folder away and sync again; keys are not in it.',
  },
})
