import { chmodSync, lstatSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import type { TouchstoneError } from '../../ports/errors.ts'
import { fault } from './faults.ts'

/**
 * Folders 0700, files 0600, from the top down: once the top is closed, nobody can put anything in below while we look.
 * Whatever belongs to somebody else, or leads elsewhere, may have been put there before that: it is refused.
 */
export function tightenFolder(path: string, owner = process.getuid?.()): void {
  if (owner === undefined) return
  // A link is looked at itself, never followed.
  const found = lstatSync(path)
  const foreign = found.uid !== owner
  if (foreign || !(found.isDirectory() || found.isFile())) throw notOurs(path, foreign)
  const wanted = found.isDirectory() ? 0o700 : 0o600
  if ((found.mode & 0o7777) !== wanted) chmodSync(path, wanted)
  if (found.isDirectory()) for (const name of readdirSync(path)) tightenFolder(join(path, name), owner)
}

const notOurs = (path: string, foreign: boolean): TouchstoneError =>
  fault('FOLDER_NOT_OURS', {
    path,
    what: foreign ? 'belongs to another account' : 'is neither a file nor a folder',
    mend: foreign
      ? `Find out who put it there. If it is yours after all: chown -R "$(id -un)" on the folder, as root.`
      : 'Find out who put it there and remove it, or restore the store from a backup.',
  })
