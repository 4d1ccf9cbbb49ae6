import { randomBytes } from 'node:crypto'
import {
  accessSync,
  closeSync,
  constants,
  existsSync,
  fsyncSync,
  linkSync,
  mkdirSync,
  openSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { readFile } from 'node:fs/promises'
import { basename, dirname, join, resolve } from 'node:path'
import { TouchstoneError } from '../../ports/errors.ts'
import { codeOf } from './codeOf.ts'
import { fault } from './faults.ts'

/** A name beside a file, for what is renamed onto it when it is whole. */
export const asideOf = (path: string): string => `${path}.${process.pid}.${randomBytes(4).toString('hex')}.part`

/** A file is there whole or not at all: written beside its place, then renamed onto it. `flush`: on disk on return. */
export function writeAside(path: string, content: string | Uint8Array, { mode = 0o644, flush = false } = {}): void {
  const aside = asideOf(path)
  try {
    makeFolder(dirname(path))
    refuseOther(path)
    writeFileSync(aside, content, { mode, flag: 'wx', flush })
    renameSync(aside, path)
    if (flush) flushFolder(dirname(path))
  } catch (error) {
    rmSync(aside, { force: true })
    throw notWritable(path, error)
  }
}

/** A new file, whole or not at all; false where something has its name already, which is left alone. */
export function writeOnce(path: string, content: string, { mode = 0o644 } = {}): boolean {
  const aside = asideOf(path)
  try {
    writeAside(aside, content, { mode, flush: true })
    // A link never replaces: of two programs that start together one wins.
    linkSync(aside, path)
    return true
  } catch (error) {
    if (codeOf(error) === 'EEXIST') return false
    throw error instanceof TouchstoneError ? error : notWritable(path, error)
  } finally {
    rmSync(aside, { force: true })
  }
}

/** A rename replaces whatever stands there: done by root, /dev/null for the whole machine (attack 116). */
function refuseOther(path: string): void {
  const found = statSync(path, { throwIfNoEntry: false })
  if (found && !found.isFile())
    throw Object.assign(new Error(), { code: found.isDirectory() ? 'EISDIR' : 'not a regular file' })
}

function flushFolder(path: string): void {
  const folder = openSync(path, 'r')
  try {
    fsyncSync(folder)
  } finally {
    closeSync(folder)
  }
}

/** What a file holds, or what stands for a file that is not there. */
export const readIfThere = (path: string, otherwise = ''): Promise<string> =>
  readFile(path, 'utf8').catch((error: unknown) => {
    if (codeOf(error) === 'ENOENT') return otherwise
    throw error
  })

/** So that a line may follow: a text whose last line was left open gets its end. */
export const wholeLines = (text: string): string => (text === '' || text.endsWith('\n') ? text : `${text}\n`)

/** Folder by folder: Node's own recursive mkdir never returns where a parent can hold nothing, as in /proc. */
export function makeFolder(path: string): void {
  if (existsSync(path)) return
  makeFolder(dirname(path))
  try {
    mkdirSync(path, { mode: 0o700 })
  } catch (error) {
    if (!existsSync(path)) throw error
  }
}

/** Asked before a long run, so that nobody waits a minute for a refusal. A folder that a person mistyped is not made. */
export function ensureWritable(path: string): void {
  const folder = dirname(path)
  if (!existsSync(folder)) throw fault('NOT_WRITABLE', { path, why: `there is no folder ${folder}` })
  try {
    accessSync(dirname(path), constants.W_OK)
    refuseOther(path)
  } catch (error) {
    throw notWritable(path, error)
  }
}

/** The same of several files: none of them may take the place of another, or of one that is read. */
export function ensureApart(written: readonly MaybePath[], read: readonly MaybePath[] = []): void {
  const taken = new Set(read.flatMap((path) => (path === undefined ? [] : [placeOf(path), realPlace(path)])))
  for (const path of written) {
    if (path === undefined) continue
    ensureWritable(path)
    const place = placeOf(path)
    if (taken.has(place)) throw fault('SAME_FILE', { path })
    taken.add(place)
  }
}

type MaybePath = string | undefined

/** Where a rename onto a path puts a file: links to its folder are followed, a link in its place is not. */
const placeOf = (path: string): string => join(realPlace(dirname(path)), basename(path))

function realPlace(path: string): string {
  try {
    return realpathSync(path)
  } catch {
    return resolve(path)
  }
}

const notWritable = (path: string, cause: unknown): TouchstoneError =>
  fault('NOT_WRITABLE', { path, why: codeOf(cause) || 'unknown reason' }, cause)
