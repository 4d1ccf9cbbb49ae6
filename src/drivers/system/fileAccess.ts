import { mkdir, open, rename, rm } from 'node:fs/promises'
import { dirname } from 'node:path'
import type { TouchstoneError } from '../../ports/errors.ts'
import type { ReadableFile, WritableFile } from '../../ports/fileAccess.ts'
import { fault } from './faults.ts'
import { asideOf } from './writeAside.ts'

export async function openReadable(path: string): Promise<ReadableFile> {
  const handle = await open(path, 'r').catch((cause: Error) => {
    throw notReadable(path, 'it cannot be opened', cause)
  })
  const { size: length } = await handle.stat()
  return {
    length,
    async read(offset, wanted) {
      const bytes = new Uint8Array(wanted)
      for (let at = 0; at < wanted; ) {
        const { bytesRead } = await handle.read(bytes, at, Math.min(wanted - at, 2 ** 30), offset + at)
        if (bytesRead === 0) throw notReadable(path, `it ended at byte ${offset + at}`)
        at += bytesRead
      }
      return bytes
    },
    close: () => handle.close(),
  }
}

/** Written beside its place and renamed onto it by `commit`. */
export async function createWritable(path: string): Promise<WritableFile> {
  const aside = asideOf(path)
  await mkdir(dirname(path), { recursive: true })
  const handle = await open(aside, 'wx')
  let committed = false
  return {
    async append(bytes) {
      for (let at = 0; at < bytes.length; at += 2 ** 30) await handle.writeFile(bytes.subarray(at, at + 2 ** 30))
    },
    async commit() {
      await rename(aside, path)
      committed = true
    },
    async close() {
      await handle.close()
      if (!committed) await rm(aside, { force: true })
    },
  }
}

const notReadable = (path: string, why: string, cause?: Error): TouchstoneError =>
  fault('NOT_READABLE', { path, why }, cause)
