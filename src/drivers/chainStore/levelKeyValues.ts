import { crc32 } from 'node:zlib'
import { ClassicLevel } from 'classic-level'
import { FindingError } from './chainStoreFrom.ts'
import type { Change, KeyValues } from './keyValues.ts'

/** A LevelDB in a folder. Every value carries a sum over itself and its key: LevelDB as built here looks at none when it reads. */
export async function levelKeyValues(folder: string): Promise<KeyValues> {
  let level = await openLevel(folder)
  let hasFailed = false
  // After a failed write LevelDB takes no more until it is opened anew, which finds all that it confirmed.
  const revive = async () => {
    if (!hasFailed) return
    await level.close()
    level = await openLevel(folder)
    hasFailed = false
  }
  return {
    get: async (key) => {
      await revive()
      const value = await level.get(key)
      return value === undefined ? null : unsealed(key, value)
    },
    keys: async (from, to) => {
      await revive()
      return await level.keys({ gte: from, lt: to }).all()
    },
    write: async (changes) => {
      await revive()
      try {
        await level.batch(changes.map(operation), { sync: true })
      } catch (error) {
        hasFailed = true
        throw error
      }
    },
    close: () => level.close(),
  }
}

const operation = ([key, value]: Change) =>
  value === null ? { type: 'del' as const, key } : { type: 'put' as const, key, value: sealed(key, value) }

async function openLevel(folder: string): Promise<ClassicLevel> {
  const level = new ClassicLevel(folder, { keyEncoding: 'utf8', valueEncoding: 'view' })
  await level.open()
  return level
}

const SUM_BYTES = 4
const sumOf = (key: string, value: Uint8Array) => crc32(value, crc32(key))

function sealed(key: string, value: Uint8Array): Uint8Array {
  const out = new Uint8Array(value.length + SUM_BYTES)
  out.set(value)
  new DataView(out.buffer).setUint32(value.length, sumOf(key, value))
  return out
}

function unsealed(key: string, stored: Uint8Array): Uint8Array {
  const end = stored.length - SUM_BYTES
  const value = new Uint8Array(stored.buffer, stored.byteOffset, Math.max(0, end))
  const sum = new DataView(stored.buffer, stored.byteOffset, stored.length)
  if (end < 0 || sum.getUint32(end) !== sumOf(key, value))
    throw new FindingError({ kind: 'damaged', why: `the sum of ${key} is wrong` })
  return value
}
