import { faultsOf } from '../../ports/errors.ts'

/** Every fault of this folder. */
export const fault = faultsOf({
  CANNOT_LISTEN: {
    blame: 'user',
    message: '{part} on {host}:{port}: {why}',
    nextStep: 'Choose another {setting}, or stop what uses this one.',
  },
  BAD_KEY_FILE: {
    blame: 'user',
    message: '{path} does not hold a key',
    nextStep: 'Restore the file from a backup, or move it away to make a new key.',
  },
  CATALOGUE_UNREADABLE: {
    blame: 'user',
    message: 'the GPU catalogue cannot be used: {why}',
    nextStep: 'Name a catalogue that exists, correct what is named above, or use the one that came with the program.',
  },
  ENGINE_UNKNOWN: {
    blame: 'user',
    message: 'TOUCHSTONE_ENGINE is {asked}',
    nextStep: 'Set it to wasm, avx2 or avx512, or leave it out for the best that this machine has.',
  },
  FOLDER_NOT_OURS: {
    blame: 'user',
    message: '{path} {what}, so its contents cannot be trusted',
    nextStep: '{mend}',
  },
  HOME_NOT_WHOLE: {
    blame: 'user',
    message: 'TOUCHSTONE_HOME is {path}, which is another folder wherever the program is started',
    nextStep: 'Write the whole path, from / on.',
  },
  KERNEL_FILE_MISSING: {
    blame: 'user',
    fleet: 'ours',
    message: 'the built kernel {name} is missing',
    nextStep: 'Restore kernels/built/ from the release or the repository.',
  },
  LOCK_FOREIGN: {
    blame: 'user',
    message: 'another account holds the lock of {folder}, which lies beside it',
    nextStep: 'Use a folder beside which nobody else may write.',
  },
  NOT_FETCHED: {
    blame: 'network',
    retry: true,
    message: '{url} cannot be fetched: {why}',
    nextStep: 'Check the address, or download the file and name it instead.',
  },
  URL_REFUSED: {
    blame: 'user',
    message: '{url} is not fetched: {why}',
    nextStep: 'Download the file yourself, and name it instead.',
  },
  NOT_READABLE: {
    blame: 'user',
    message: 'cannot read {path}: {why}',
    nextStep: 'Name a file that exists and that you may read, and that nothing else is changing.',
  },
  NOT_WRITABLE: {
    blame: 'user',
    fleet: 'ours',
    message: 'cannot write {path} ({why})',
    nextStep: 'Choose a folder you may write to and that has space.',
  },
  SAME_FILE: {
    blame: 'user',
    message: '{path} would take the place of another file of this command',
    nextStep: 'Give each of them a name of its own.',
  },
  CHANNEL_CLOSED: {
    blame: 'network',
    retry: true,
    message: 'the other side closed the channel',
    nextStep: 'Try again; if it keeps happening, ask whoever runs the other side.',
  },
  NO_ROOM_TO_DIAL: {
    blame: 'validator',
    retry: true,
    message: 'this machine has no room for a connection to {to} ({why})',
    nextStep: 'Raise its limit of open files (ulimit -n), or ask fewer boxes at once.',
  },
  NOT_REACHED: {
    blame: 'network',
    retry: true,
    message: '{url} cannot be reached',
    nextStep: 'Check the address, and that the other side is up and lets WebSockets through.',
  },
  REVOCATIONS_UNREADABLE: {
    blame: 'user',
    message: 'the list of revoked keys in {path} cannot be used',
    nextStep: 'Write it as docs/spec/certificate.md C9 says, or name another file with --revoked.',
  },
  SEALED_FOR_ANOTHER: {
    blame: 'prover',
    message: 'the connection details are not sealed to the key of this lease, or were changed on the way',
    nextStep: 'Ask for a new lease; if it happens again, tell the provider.',
  },
})
