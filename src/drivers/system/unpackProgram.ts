import { createHash, randomBytes } from 'node:crypto'
import {
  chmodSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { gunzipSync } from 'node:zlib'

/** One file of the program; the archive holds their contents one after the other, in this order. */
interface ProgramFile {
  readonly path: string
  readonly bytes: number
  readonly sha256: string
}

/**
 * The folder below `cache` that holds exactly these files, named by the hash of their list. What lies there already is read
 * and compared first: a file that is missing or differs, and the folder is made anew. Nobody else may enter it, or put
 * another in its place. Its path is the one by which Node knows what runs from there: without links.
 */
export function unpackProgram(cache: string, list: string, archive: () => ArrayBuffer): string {
  const files = JSON.parse(list) as readonly ProgramFile[]
  mkdirSync(cache, { recursive: true, mode: 0o700 })
  ensureOwn(cache, 0o022)
  const real = realpathSync(cache)
  ensureAbove(real)
  const folder = join(real, `program-${hashOf(Buffer.from(list)).slice(0, 32)}`)
  if (isWhole(folder, files)) return folder
  const making = `${folder}.${randomBytes(6).toString('hex')}`
  try {
    mkdirSync(making, { mode: 0o700 })
    const contents = gunzipSync(new Uint8Array(archive()))
    let offset = 0
    for (const { path, bytes } of files) {
      mkdirSync(dirname(join(making, path)), { recursive: true, mode: 0o700 })
      writeFileSync(join(making, path), contents.subarray(offset, offset + bytes), { mode: 0o600 })
      offset += bytes
    }
    if (!move(making, folder) && !isWhole(folder, files)) {
      move(folder, `${making}.old`)
      move(making, folder)
    }
  } finally {
    for (const left of [making, `${making}.old`]) rmSync(left, { recursive: true, force: true })
  }
  if (!isWhole(folder, files)) throw new Error(`what was written to ${folder} is not what is there`)
  return folder
}

/** Never onto a folder that holds something: another process may have been faster, and run from it already. */
function move(from: string, to: string): boolean {
  try {
    renameSync(from, to)
    return true
  } catch {
    return false
  }
}

function isWhole(folder: string, files: readonly ProgramFile[]): boolean {
  if (lstatSync(folder, { throwIfNoEntry: false }) === undefined) return false
  ensureOwn(folder, 0o077)
  return files.every(({ path, bytes, sha256 }) => {
    const content = contentOf(join(folder, path))
    return content !== null && content.length === bytes && hashOf(content) === sha256
  })
}

/** Whoever could put another folder there after it was compared could run what he likes in our name. */
function ensureOwn(folder: string, forOthers: number): void {
  const { uid, mode } = statSync(folder)
  const isOurs = process.getuid === undefined || uid === process.getuid()
  if (!isOurs || !lstatSync(folder).isDirectory()) throw new Error(`${folder} is not a folder of ours`)
  if ((mode & forOthers) !== 0) chmodSync(folder, mode & ~forOthers & 0o777)
}

/** Whoever may write to a folder above renames what lies in it, but for one like /tmp (sticky), where each has his own. */
function ensureAbove(folder: string): void {
  const above = dirname(folder)
  const { uid, gid, mode } = statSync(above)
  const isOurs = process.getuid === undefined || uid === 0 || uid === process.getuid()
  const isShared = (mode & 0o002) !== 0 || ((mode & 0o020) !== 0 && gid !== process.getgid?.())
  if (!isOurs || (isShared && (mode & 0o1000) === 0))
    throw new Error(`others may put something else in the place of ${folder}`)
  if (above !== dirname(above)) ensureAbove(above)
}

function contentOf(path: string): Buffer | null {
  try {
    return readFileSync(path)
  } catch {
    return null
  }
}

const hashOf = (content: Uint8Array): string => createHash('sha256').update(content).digest('hex')
