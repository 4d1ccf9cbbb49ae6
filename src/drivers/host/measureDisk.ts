import { randomBytes } from 'node:crypto'
import { type FileHandle, statfs } from 'node:fs/promises'
import { WASM_PAGE_BYTES, webAssembly } from '../../core/engine/webAssembly.ts'
import { openNamelessFile } from './openNamelessFile.ts'

export interface DiskBudget {
  readonly folder: string
  readonly budgetMs: number
  readonly budgetBytes: number
}

const CHUNK = 4 * 1024 * 1024
const BLOCK = 4096

/** Writes, syncs and reads one nameless file, never more than a hundredth of what is free. */
export async function measureDisk({ folder, budgetMs, budgetBytes }: DiskBudget, signal: AbortSignal) {
  const { bsize, blocks, bavail } = await statfs(folder)
  const diskFreeBytes = bsize * bavail
  const mostChunks = Math.max(1, Math.ceil(Math.min(budgetBytes / CHUNK, Math.floor(diskFreeBytes / 100 / CHUNK))))
  const { file, direct } = await openNamelessFile(folder)
  const [chunk, block] = [randomBytes(CHUNK), randomBytes(BLOCK)]
  const rateOf = (move: Move, most: number) => rate(move, most, budgetMs / 4, signal)
  try {
    const written = await rateOf((count) => write(file, chunk, count * CHUNK), mostChunks)
    const scattered = await rateOf(() => write(file, block, randomOffset(written.bytes)), 1000)
    return {
      diskBytes: bsize * blocks,
      diskFreeBytes,
      diskWriteBytesPerSec: written.perSec,
      diskWriteOpsPerSec: scattered.perSec / BLOCK,
      ...(direct && (await readPastCache(direct, written.bytes, rateOf))),
    }
  } finally {
    await file.close()
    await direct?.close()
  }
}

/** Says how many bytes it moved. */
type Move = (count: number) => Promise<number>

/** At least once, then for about `budgetMs` or until `most` moves are made. */
async function rate(move: Move, most: number, budgetMs: number, signal: AbortSignal) {
  const began = performance.now()
  let bytes = 0
  for (let count = 0; count === 0 || (count < most && performance.now() - began < budgetMs); count++) {
    signal.throwIfAborted()
    bytes += await move(count)
  }
  return { bytes, perSec: (1000 * bytes) / (performance.now() - began) }
}

/** The clock stops when the disk has it, not when the cache has. */
async function write(file: FileHandle, bytes: Uint8Array, offset: number): Promise<number> {
  await file.write(bytes, 0, bytes.length, offset)
  await file.datasync()
  return bytes.length
}

/** Nothing where the file system cannot: a number from the cache would say nothing about a disk. */
async function readPastCache(
  direct: FileHandle,
  bytes: number,
  rateOf: (move: Move, most: number) => Promise<{ readonly perSec: number }>,
) {
  // Memory of WebAssembly begins on a page, which reading past the cache asks for.
  const buffer = new Uint8Array(new webAssembly.Memory({ initial: CHUNK / WASM_PAGE_BYTES }).buffer)
  const read = async (size: number, offset: number) => (await direct.read(buffer, 0, size, offset)).bytesRead
  try {
    const inOrder = await rateOf((count) => read(CHUNK, (count * CHUNK) % bytes), Number.POSITIVE_INFINITY)
    const scattered = await rateOf(() => read(BLOCK, randomOffset(bytes)), Number.POSITIVE_INFINITY)
    return { diskReadBytesPerSec: inOrder.perSec, diskReadOpsPerSec: scattered.perSec / BLOCK }
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EINVAL') return {}
    throw error
  }
}

const randomOffset = (bytes: number): number => BLOCK * Math.floor((bytes / BLOCK) * Math.random())
