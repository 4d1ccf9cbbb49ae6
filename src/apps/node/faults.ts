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
  CHECKPOINT_ELSEWHERE: {
    blame: 'user',
    message: 'the chain in this folder does not go through block {id}, or keeps it no longer',
    nextStep: 'Move the folder away to begin with that block, or leave --checkpoint out to go on with this chain.',
  },
  CHECKPOINT_NOT_FOUND: {
    blame: 'network',
    retry: true,
    message: 'no node that could be asked has the block {id} with its state',
    nextStep: 'Name a node that has it with --bootstrap: a node shows as it starts which block others can begin with.',
  },
  CHECKPOINT_TOO_OLD: {
    blame: 'user',
    message: 'the block {id} is more than 168 epochs old: who made blocks before it may have its bond back',
    nextStep: 'Ask people you trust for a newer one.',
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
