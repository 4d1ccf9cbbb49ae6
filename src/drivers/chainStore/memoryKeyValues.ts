import type { Change, KeyValues } from './keyValues.ts'

/** A database that ends with its process. */
export function memoryKeyValues(): KeyValues {
  const values = new Map<string, Uint8Array>()
  return {
    get: async (key) => values.get(key)?.slice() ?? null,
    keys: async (from, to) => [...values.keys()].filter((key) => key >= from && key < to).sort(),
    write: async (changes: readonly Change[]) => {
      for (const [key, value] of changes)
        if (value === null) values.delete(key)
        else values.set(key, value.slice())
    },
    close: async () => {},
  }
}
