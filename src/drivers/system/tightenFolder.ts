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
  const { uid, mode, isFolder, isFile } = look(path)
  if (uid !== owner || !(isFolder || isFile)) throw notOurs(path, uid !== owner)
  const wanted = isFolder ? 0o700 : 0o600
  if ((mode & 0o7777) !== wanted) chmodSync(path, wanted)
  if (isFolder) for (const name of readdirSync(path)) tightenFolder(join(path, name), owner)
}

/** A link is looked at itself, never followed. */
function look(path: string) {
  const found = lstatSync(path)
  return { uid: found.uid, mode: found.mode, isFolder: found.isDirectory(), isFile: found.isFile() }
}

const notOurs = (path: string, foreign: boolean): TouchstoneError =>
  fault('FOLDER_NOT_OURS', {
    path,
    what: foreign ? 'belongs to another account' : 'is neither a file nor a folder',
    mend: foreign
      ? `Find out who put it there. If it is yours after all: chown -R "$(id -un)" on the folder, as root.`
      : 'Find out who put it there and remove it, or restore the store from a backup.',
  })
