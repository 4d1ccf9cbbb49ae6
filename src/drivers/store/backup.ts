import { once } from 'node:events'
import { copyFileSync, createReadStream, createWriteStream, mkdirSync, readdirSync, renameSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { createInterface } from 'node:readline'
import { PassThrough } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { createGunzip, createGzip } from 'node:zlib'
import { TouchstoneError } from '../../ports/errors.ts'
import type { Store } from '../../ports/store.ts'
import { codeOf } from '../system/codeOf.ts'
import { fault } from './faults.ts'

/** A file named by its time in a folder. */
export const backupStore = (store: Store, folder: string) => {
  const time = new Date().toISOString().slice(0, 19).replace(/[:T]/g, '-')
  return writeBackup(store, join(folder, `touchstone-${time}.jsonl.gz`))
}

const BACKUP_NAME = /^touchstone-[\d-]{19}\.jsonl\.gz$/

/** The names of what `backupStore` wrote to a folder. */
export function backupsIn(folder: string): readonly string[] {
  try {
    const found = readdirSync(folder, { withFileTypes: true })
    return found.filter((entry) => entry.isFile() && BACKUP_NAME.test(entry.name)).map(({ name }) => name)
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return []
    throw fault('BACKUPS_UNREADABLE', { folder, why: codeOf(error) || 'unknown' }, error)
  }
}

/** JSON lines, compressed. The file appears under its name only when it is whole. */
export async function writeBackup(store: Store, file: string) {
  const aside = `${file}.part`
  const lines = new PassThrough()
  try {
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 })
    const written = pipeline(lines, createGzip({ level: 1 }), createWriteStream(aside, { mode: 0o600 }))
    written.catch(() => {})
    const rows = await store.dump(async (line) => {
      if (!lines.write(`${line}\n`)) await Promise.race([once(lines, 'drain'), written])
    })
    lines.end()
    await written
    renameSync(aside, file)
    return { file, rows }
  } catch (cause) {
    lines.destroy()
    discard(aside)
    throw fault('BACKUP_NOT_WRITTEN', { file, why: codeOf(cause) || 'unknown' }, cause)
  }
}

/** Moves a whole backup, from another disk too; it appears under its name only when it is whole. */
export function moveBackup(made: string, file: string): string {
  const aside = `${file}.part`
  try {
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 })
    copyFileSync(made, aside)
    renameSync(aside, file)
    rmSync(made)
    return file
  } catch (cause) {
    discard(aside)
    throw fault('BACKUP_ELSEWHERE', { made, file, why: codeOf(cause) || 'unknown' }, cause)
  }
}

/** What could not be made is not there either. */
function discard(path: string): void {
  try {
    rmSync(path, { force: true })
  } catch {
    // The reason why it was not written is the one to tell.
  }
}

export async function readBackup(store: Store, file: string): Promise<number> {
  const source = createReadStream(file)
  const text = createGunzip()
  const read = pipeline(source, text)
  read.catch(() => {})
  try {
    const loaded = await store.load(linesOf(text))
    await read
    return loaded
  } catch (cause) {
    throw cause instanceof TouchstoneError ? cause : fault('BACKUP_UNREADABLE', { file }, cause)
  }
}

async function* linesOf(text: NodeJS.ReadableStream): AsyncGenerator<string> {
  for await (const line of createInterface({ input: text, crlfDelay: Number.POSITIVE_INFINITY })) yield line
  // A stream that broke ends the lines early without a word; asking it again says so.
  const { errored } = text as NodeJS.ReadableStream & { errored?: Error | null }
  if (errored) throw errored
}
