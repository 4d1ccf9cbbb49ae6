import { randomBytes } from 'node:crypto'
import { accessSync, constants, existsSync, mkdirSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import type { TouchstoneError } from '../../ports/errors.ts'
import { fault } from './faults.ts'

/** A file is there whole or not at all: written beside its place, then renamed onto it. */
export function writeAside(path: string, content: string | Uint8Array, mode = 0o644): void {
  const aside = `${path}.${process.pid}.${randomBytes(4).toString('hex')}.part`
  try {
    makeFolder(dirname(path))
    writeFileSync(aside, content, { mode, flag: 'wx' })
    renameSync(aside, path)
  } catch (error) {
    rmSync(aside, { force: true })
    throw notWritable(path, error)
  }
}

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

/** Asked before a long run, so that nobody waits a minute for a refusal. */
export function ensureWritable(path: string): void {
  try {
    makeFolder(dirname(path))
    accessSync(dirname(path), constants.W_OK)
    if (statSync(path, { throwIfNoEntry: false })?.isDirectory()) throw Object.assign(new Error(), { code: 'EISDIR' })
  } catch (error) {
    throw notWritable(path, error)
  }
}

const notWritable = (path: string, cause: unknown): TouchstoneError =>
  fault('NOT_WRITABLE', { path, why: codeOf(cause) }, cause)

const codeOf = (cause: unknown): string =>
  cause instanceof Error && 'code' in cause ? String(cause.code) : 'unknown reason'
