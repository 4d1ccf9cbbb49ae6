import { faultsOf } from '../../ports/errors.ts'

/** Every fault of this folder. */
export const fault = faultsOf({
  BACKUP_ELSEWHERE: {
    blame: 'user',
    message: 'the running validator wrote {made}, but it did not become {file} ({why})',
    nextStep: 'Copy it from there, as a user who may read it.',
  },
  BACKUPS_UNREADABLE: {
    blame: 'user',
    message: 'cannot look into {folder}, to which the running validator writes its backups ({why})',
    nextStep: 'Run the command as the user whose validator it is.',
  },
  BACKUP_NOT_WRITTEN: {
    blame: 'user',
    retry: true,
    message: 'the backup {file} was not written ({why}); nothing is left of it',
    nextStep: 'Check that the disk has room and the folder is writable.',
  },
  BACKUP_UNREADABLE: {
    blame: 'user',
    message: '{file} cannot be read as a backup; nothing was restored',
    nextStep: 'Name a file written by "touchstone validator backup".',
  },
  BAD_STORE_ADDRESS: {
    blame: 'user',
    message: 'the store is neither embedded:FOLDER nor postgres://…',
    nextStep: 'Write for example "store: embedded:./data" or "store: postgres://user:password@host/database".',
  },
  NOT_A_BACKUP: {
    blame: 'user',
    message: 'the file is not a backup of a touchstone store, or it is cut short',
    nextStep: 'Name a file written by "touchstone validator backup".',
  },
  RESULT_REFUSED: {
    blame: 'validator',
    message: 'the store refuses the result ({state})',
    nextStep: 'Report this: a result must never be refused.',
  },
  STORE_IN_USE: {
    blame: 'user',
    message: 'another process uses the data folder {folder}',
    nextStep: 'Stop the other validator, or give this one a store of its own (PostgreSQL lets several share one).',
  },
  STORE_IS_NEWER: {
    blame: 'user',
    message: 'the store has schema {applied}; this program knows up to {known}',
    nextStep: 'Run the program version that last used this store, or restore an older backup into an empty one.',
  },
  STORE_NOT_EMPTY: {
    blame: 'user',
    message: 'the store already holds boxes: a backup is restored into an empty store only',
    nextStep: 'Name an empty data folder or database under "store:" and restore again.',
  },
  STORE_UNREACHABLE: {
    blame: 'user',
    retry: true,
    message: 'the PostgreSQL store cannot be used ({why})',
    nextStep:
      'Check that the server under "store:" runs, that the database exists and that user and password are right.',
  },
  STORE_UNUSABLE: {
    blame: 'user',
    message: 'the data folder {folder} cannot be used: {why}{system}',
    nextStep: 'Check that the disk has room and the folder is writable; a damaged store is restored from a backup.',
  },
})
