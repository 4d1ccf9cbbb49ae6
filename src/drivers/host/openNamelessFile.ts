import { randomBytes } from 'node:crypto'
import { constants, open, unlink } from 'node:fs/promises'
import { join } from 'node:path'

/**
 * A file that has no name: the system takes its space back when we close it, are interrupted or are killed. `direct` reads
 * past the cache, and is null where the file system cannot.
 */
export async function openNamelessFile(folder: string) {
  const path = join(folder, `.touchstone-disk-${randomBytes(8).toString('hex')}`)
  const file = await open(path, 'wx+', 0o600)
  const direct = await open(path, constants.O_RDONLY | constants.O_DIRECT).catch(() => null)
  await unlink(path)
  return { file, direct }
}
