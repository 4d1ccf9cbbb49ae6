import { existsSync, mkdirSync, readdirSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { lastWords } from '../../core/bytes/printable.ts'
import type { ChainStore } from '../../ports/chainStore.ts'
import { TouchstoneError } from '../../ports/errors.ts'
import { codeOf } from '../system/codeOf.ts'
import { chainStoreFrom, FindingError } from './chainStoreFrom.ts'
import { fault } from './faults.ts'
import type { KeyValues } from './keyValues.ts'
import { levelKeyValues } from './levelKeyValues.ts'
import { memoryKeyValues } from './memoryKeyValues.ts'

/** The chain of this genesis in a folder; an empty or missing folder begins one. One process per folder. */
export async function openChainStore(folder: string, genesis: string): Promise<ChainStore> {
  const path = resolve(folder)
  const told = async <T>(work: () => Promise<T>): Promise<T> => {
    try {
      return await work()
    } catch (error) {
      throw explain(error, path, genesis)
    }
  }
  const values = await told(async () => {
    prepare(path)
    return await levelKeyValues(path)
  })
  try {
    return await chainStoreFrom(telling(values, told), genesis)
  } catch (error) {
    await values.close()
    throw explain(error, path, genesis)
  }
}

/** A chain that ends with its process. */
export const openMemoryChain = (genesis: string): Promise<ChainStore> => chainStoreFrom(memoryKeyValues(), genesis)

/** LevelDB would begin anew where only its first file is gone, and a chain would be lost without a word. */
function prepare(path: string): void {
  mkdirSync(path, { recursive: true, mode: 0o700 })
  const names = readdirSync(path)
  if (names.length === 0 || existsSync(join(path, 'CURRENT'))) return
  // What a first start leaves that was killed before it had a database: no file of data.
  if (names.every((name) => /^(LOCK|LOG(\.old)?|MANIFEST-000001|000001\.dbtmp)$/.test(name))) return
  const isOurs = names.some((name) => /^\d+\.(ldb|log)$|^MANIFEST-/.test(name))
  if (isOurs) throw new FindingError({ kind: 'damaged', why: 'its file CURRENT is gone' })
  throw fault('CHAIN_FOLDER_UNUSABLE', { folder: path, why: 'it holds something else' })
}

const telling = (values: KeyValues, told: <T>(work: () => Promise<T>) => Promise<T>): KeyValues => ({
  get: (key) => told(() => values.get(key)),
  keys: (from, to) => told(() => values.keys(from, to)),
  write: (changes) => told(() => values.write(changes)),
  close: () => values.close(),
})

function explain(error: unknown, folder: string, wanted: string): unknown {
  if (error instanceof TouchstoneError || error instanceof RangeError) return error
  if (error instanceof FindingError) {
    const { finding } = error
    if (finding.kind === 'another') return fault('CHAIN_IS_ANOTHER', { folder, held: finding.held, wanted }, error)
    if (finding.kind === 'newer')
      return fault('CHAIN_IS_NEWER', { folder, found: finding.found, known: finding.known }, error)
    return fault('CHAIN_STORE_DAMAGED', { folder, why: finding.why }, error)
  }
  // The database wraps what happened when it was opened.
  const cause = (error as { cause?: unknown } | null)?.cause ?? error
  const why = lastWords(cause instanceof Error ? cause.message : String(cause))
  const code = codeOf(cause)
  if (code === 'LEVEL_LOCKED') return fault('CHAIN_FOLDER_IN_USE', { folder }, error)
  // A file that its list of files, or CURRENT, names.
  if (code === 'LEVEL_CORRUPTION' || /no such file/i.test(why))
    return fault('CHAIN_STORE_DAMAGED', { folder, why }, error)
  if (/no space|too large|quota/i.test(why)) return fault('CHAIN_NOT_WRITTEN', { folder, why }, error)
  return fault('CHAIN_FOLDER_UNUSABLE', { folder, why }, error)
}
