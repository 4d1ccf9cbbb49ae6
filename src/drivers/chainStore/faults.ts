import { faultsOf } from '../../ports/errors.ts'

/** Every fault of this folder. */
export const fault = faultsOf({
  CHAIN_FOLDER_IN_USE: {
    blame: 'user',
    message: 'another process uses the chain folder {folder}',
    nextStep: 'Stop the other node, or give this one a folder of its own.',
  },
  CHAIN_FOLDER_UNUSABLE: {
    blame: 'user',
    message: 'the chain folder {folder} cannot be used: {why}',
    nextStep: 'Name an empty folder, or one of a node, on a disk that this account may write to.',
  },
  CHAIN_IS_ANOTHER: {
    blame: 'user',
    message: 'the folder {folder} holds the chain {held}, not {wanted}',
    nextStep: 'Name the folder of the chain that you mean, or an empty one.',
  },
  CHAIN_IS_NEWER: {
    blame: 'user',
    message: 'the chain in {folder} has format {found}; this program knows format {known}',
    nextStep: 'Run the version that last used the folder, or name an empty folder and sync again.',
  },
  CHAIN_NOT_WRITTEN: {
    blame: 'user',
    retry: true,
    message: 'the chain folder {folder} takes no more ({why}); what was written before is whole',
    nextStep: 'Make room on the disk: a node that runs goes on by itself, one that has ended can be started again.',
  },
  CHAIN_STORE_DAMAGED: {
    blame: 'user',
    message: 'the chain in {folder} is damaged: {why}',
    nextStep: 'Check the disk. Move the folder away and sync again: a chain is copied from others, keys are not in it.',
  },
})
