import { closeSync, constants, fstatSync, openSync, readSync, realpathSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { parseStrictJson } from '../../core/bytes/parseStrictJson.ts'
import { DecodeError } from '../../core/bytes/reader.ts'
import { decodeHeader, headerLength, type StoredTensor } from '../../core/work/safetensors.ts'
import { fault } from './faults.ts'

const ONE_FILE = 'model.safetensors'
const INDEX = 'model.safetensors.index.json'
const MAX_JSON_BYTES = 128 * 2 ** 20
const MAX_SHARDS = 1000
/** No name leads out of the folder. */
const SHARD = /^[A-Za-z0-9][A-Za-z0-9._-]{0,200}\.safetensors$/
/** One call of the system reads no more. */
const MOST_AT_ONCE = 2 ** 30

/** A file of a folder; links may lead to another file of it and nowhere else. */
function openInside(folder: string, name: string): number {
  try {
    if (dirname(realpathSync(join(folder, name))) !== realpathSync(folder)) throw new Error('a link out of the folder')
    const file = openSync(join(folder, name), constants.O_RDONLY | (constants.O_NONBLOCK ?? 0))
    if (fstatSync(file).isFile()) return file
    closeSync(file)
    throw new Error('not a regular file')
  } catch {
    throw fault('MODEL_NOT_READABLE', { file: name })
  }
}

/** Bytes of a file from a place on; throws where there are not so many. */
function readAt(file: number, at: number, bytes: number): Uint8Array {
  const out = new Uint8Array(bytes)
  for (let done = 0; done < bytes; ) {
    const read = readSync(file, out, done, Math.min(MOST_AT_ONCE, bytes - done), at + done)
    if (read === 0) throw fault('BAD_MODEL', { why: 'a file is shorter than it was' })
    done += read
  }
  return out
}

/** A small file of JSON. */
export function readModelJson(folder: string, name: string): unknown {
  const file = openInside(folder, name)
  try {
    const { size } = fstatSync(file)
    if (size > MAX_JSON_BYTES) throw fault('BAD_MODEL', { why: `${name} has ${size} bytes` })
    return parseStrictJson(new TextDecoder('utf-8', { fatal: true }).decode(readAt(file, 0, size)))
  } catch (error) {
    if (error instanceof SyntaxError || error instanceof TypeError)
      throw fault('BAD_MODEL', { why: `${name} is not JSON` })
    throw error
  } finally {
    closeSync(file)
  }
}

/** A tensor where it lies. */
export interface FiledTensor extends StoredTensor {
  readonly file: number
  /** From the start of the file to its data. */
  readonly dataAt: number
}

/** The tensors of a checkpoint, in one file or in shards; nothing of them is read but where they lie. */
export class CheckpointFiles {
  readonly #files: number[] = []
  readonly tensors: ReadonlyMap<string, FiledTensor>

  /** Throws a fault where a file lies about itself. */
  constructor(folder: string) {
    try {
      const shards = shardsOf(folder)
      this.tensors = new Map(shards.flatMap((shard) => this.#open(folder, shard)))
    } catch (error) {
      this.close()
      if (error instanceof DecodeError) throw fault('BAD_MODEL', { why: error.message }, error)
      throw error
    }
  }

  #open(folder: string, { name, holds }: Shard): (readonly [string, FiledTensor])[] {
    const file = openInside(folder, name)
    this.#files.push(file)
    const { size } = fstatSync(file)
    const dataAt = headerLength(readAt(file, 0, Math.min(8, size)))
    if (dataAt > size) throw new DecodeError('checkpoint: shorter than its header')
    const found = decodeHeader(readAt(file, 0, dataAt), size).map(
      (tensor) => [tensor.name, { ...tensor, file, dataAt }] as const,
    )
    return holds === null ? found : found.filter(([tensor]) => holds.has(tensor))
  }

  /** Bytes of a tensor from `from` on. */
  read({ file, dataAt, from }: FiledTensor, at: number, bytes: number): Uint8Array {
    return readAt(file, dataAt + from + at, bytes)
  }

  close(): void {
    for (const file of this.#files.splice(0)) closeSync(file)
  }
}

interface Shard {
  readonly name: string
  /** The tensors it is to be asked for; null: all. */
  readonly holds: ReadonlySet<string> | null
}

function shardsOf(folder: string): readonly Shard[] {
  let index: unknown
  try {
    closeSync(openInside(folder, ONE_FILE))
    return [{ name: ONE_FILE, holds: null }]
  } catch {
    index = readModelJson(folder, INDEX)
  }
  const map = (index as { readonly weight_map?: unknown } | null)?.weight_map
  if (typeof map !== 'object' || map === null) throw fault('BAD_MODEL', { why: `${INDEX} has no weight_map` })
  const shards = new Map<string, Set<string>>()
  for (const [tensor, name] of Object.entries(map)) {
    if (typeof name !== 'string' || !SHARD.test(name))
      throw fault('BAD_MODEL', { why: `${INDEX} names a file that is none of its folder` })
    shards.set(name, (shards.get(name) ?? new Set()).add(tensor))
  }
  if (shards.size > MAX_SHARDS) throw fault('BAD_MODEL', { why: `${INDEX} names ${shards.size} files` })
  return [...shards].map(([name, holds]) => ({ name, holds }))
}
