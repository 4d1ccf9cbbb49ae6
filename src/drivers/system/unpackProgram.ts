import { createHash, randomBytes } from 'node:crypto'
import { chmodSync, lstatSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
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
 * and compared first: a file that is missing or differs, and the folder is made anew. Nobody else may enter it.
 */
export function unpackProgram(cache: string, list: string, archive: () => ArrayBuffer): string {
  const files = JSON.parse(list) as readonly ProgramFile[]
  const folder = join(cache, `program-${hashOf(Buffer.from(list)).slice(0, 32)}`)
  if (isWhole(folder, files)) return folder
  const making = `${folder}.${randomBytes(6).toString('hex')}`
  try {
    mkdirSync(making, { recursive: true, mode: 0o700 })
    const contents = gunzipSync(new Uint8Array(archive()))
    let offset = 0
    for (const { path, bytes } of files) {
      mkdirSync(dirname(join(making, path)), { recursive: true, mode: 0o700 })
      writeFileSync(join(making, path), contents.subarray(offset, offset + bytes), { mode: 0o600 })
      offset += bytes
    }
    replace(making, folder)
  } finally {
    rmSync(making, { recursive: true, force: true })
  }
  if (!isWhole(folder, files)) throw new Error(`what was written to ${folder} is not what is there`)
  return folder
}

/** Another process may be doing the same at this moment: whichever came last, the same files lie there. */
function replace(making: string, folder: string): void {
  const old = `${making}.old`
  try {
    renameSync(folder, old)
  } catch {
    // There was none.
  }
  rmSync(old, { recursive: true, force: true })
  try {
    renameSync(making, folder)
  } catch {
    // Somebody was faster. What lies there is compared before it is used.
  }
}

function isWhole(folder: string, files: readonly ProgramFile[]): boolean {
  const found = lstatSync(folder, { throwIfNoEntry: false })
  if (found === undefined) return false
  if (!found.isDirectory() || (process.getuid !== undefined && found.uid !== process.getuid()))
    throw new Error(`${folder} is not a folder of ours`)
  if ((found.mode & 0o077) !== 0) chmodSync(folder, 0o700)
  return files.every(({ path, bytes, sha256 }) => {
    const content = contentOf(join(folder, path))
    return content !== null && content.length === bytes && hashOf(content) === sha256
  })
}

function contentOf(path: string): Buffer | null {
  try {
    return readFileSync(path)
  } catch {
    return null
  }
}

const hashOf = (content: Uint8Array): string => createHash('sha256').update(content).digest('hex')
