import { randomBytes } from 'node:crypto'
import { constants, type FileHandle, open, statfs, unlink } from 'node:fs/promises'
import { join } from 'node:path'
import { WASM_PAGE_BYTES, webAssembly } from '../../core/engine/webAssembly.ts'

export interface DiskMeasure {
  readonly totalBytes: number
  readonly freeBytes: number
  readonly writeBytesPerSec: number
  readonly writeOpsPerSec: number
  /** Null where the file system cannot be read past the cache: a number from the cache would say nothing about a disk. */
  readonly readBytesPerSec: number | null
  readonly readOpsPerSec: number | null
}

export interface DiskBudget {
  readonly folder: string
  readonly budgetMs: number
  readonly budgetBytes: number
}

const CHUNK = 4 * 1024 * 1024
const BLOCK = 4096

/**
 * Writes, syncs and reads one file that has no name: the system takes its space back when we close it, are interrupted or
 * are killed. Never more than a hundredth of what is free.
 */
export async function measureDisk(
  { folder, budgetMs, budgetBytes }: DiskBudget,
  signal: AbortSignal,
): Promise<DiskMeasure> {
  const { bsize, blocks, bavail } = await statfs(folder)
  const freeBytes = bsize * bavail
  const limit = Math.max(CHUNK, Math.min(budgetBytes, Math.floor(freeBytes / 100 / CHUNK) * CHUNK))
  const path = join(folder, `.touchstone-disk-${randomBytes(8).toString('hex')}`)
  const file = await open(path, 'wx+', 0o600)
  const direct = await open(path, constants.O_RDONLY | constants.O_DIRECT).catch(() => null)
  await unlink(path)
  const share = budgetMs / 4
  try {
    const written = await writeAll(file, limit, share, signal)
    const writes = await writeBlocks(file, written.bytes, share, signal)
    const reads = direct === null ? null : await readPastCache(direct, written.bytes, share, signal)
    const space = { totalBytes: bsize * blocks, freeBytes }
    const wrote = { writeBytesPerSec: written.perSec, writeOpsPerSec: writes }
    return { ...space, ...wrote, readBytesPerSec: reads?.bytesPerSec ?? null, readOpsPerSec: reads?.opsPerSec ?? null }
  } finally {
    await file.close()
    await direct?.close()
  }
}

/** The clock stops when the disk has it, not when the cache has. */
async function writeAll(
  file: FileHandle,
  limit: number,
  budgetMs: number,
  signal: AbortSignal,
): Promise<{ bytes: number; perSec: number }> {
  const chunk = randomBytes(CHUNK)
  const began = performance.now()
  let bytes = 0
  while (bytes < limit && (bytes === 0 || performance.now() - began < budgetMs)) {
    signal.throwIfAborted()
    await file.write(chunk, 0, CHUNK, bytes)
    bytes += CHUNK
    await file.datasync()
  }
  return { bytes, perSec: (1000 * bytes) / (performance.now() - began) }
}

async function writeBlocks(file: FileHandle, bytes: number, budgetMs: number, signal: AbortSignal): Promise<number> {
  const block = randomBytes(BLOCK)
  const began = performance.now()
  let done = 0
  while (done === 0 || (performance.now() - began < budgetMs && done < 1000)) {
    signal.throwIfAborted()
    await file.write(block, 0, BLOCK, randomOffset(bytes))
    await file.datasync()
    done++
  }
  return (1000 * done) / (performance.now() - began)
}

/** Memory of WebAssembly begins on a page, which reading past the cache asks for. */
async function readPastCache(
  direct: FileHandle,
  bytes: number,
  budgetMs: number,
  signal: AbortSignal,
): Promise<{ bytesPerSec: number; opsPerSec: number } | null> {
  const buffer = new Uint8Array(new webAssembly.Memory({ initial: CHUNK / WASM_PAGE_BYTES }).buffer)
  try {
    const bytesPerSec = await readRate(direct, buffer, CHUNK, (count) => (count * CHUNK) % bytes, budgetMs, signal)
    const opsPerSec = await readRate(direct, buffer, BLOCK, () => randomOffset(bytes), budgetMs, signal)
    return { bytesPerSec, opsPerSec: opsPerSec / BLOCK }
  } catch (error) {
    signal.throwIfAborted()
    if ((error as NodeJS.ErrnoException).code === 'EINVAL') return null
    throw error
  }
}

async function readRate(
  direct: FileHandle,
  buffer: Uint8Array,
  size: number,
  offset: (count: number) => number,
  budgetMs: number,
  signal: AbortSignal,
): Promise<number> {
  const began = performance.now()
  let [count, read] = [0, 0]
  while (count === 0 || performance.now() - began < budgetMs) {
    signal.throwIfAborted()
    read += (await direct.read(buffer, 0, size, offset(count))).bytesRead
    count++
  }
  return (1000 * read) / (performance.now() - began)
}

const randomOffset = (bytes: number): number => BLOCK * Math.floor((bytes / BLOCK) * Math.random())
