import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { LEASE_PURPOSES, type LeasePurpose } from '../../core/lease/leaseBook.ts'
import { codeOf } from '../system/codeOf.ts'
import { writeAside } from '../system/writeAside.ts'

/** What the owner of a box says of single keys while its provider runs. */
export interface KeyRules {
  /** The purposes it may have the box for, or null where nothing was said of it. */
  of(key: string): readonly LeasePurpose[] | null
  set(key: string, purposes: readonly LeasePurpose[]): void
  /** Every key that something was said of. */
  keys(): readonly string[]
}

const IS_KEY = /^[0-9a-f]{64}$/

/**
 * One small file a key, read at every question: so a word counts at once, two commands at a time lose none, and it outlasts
 * the provider. A file that cannot be read keeps its key out.
 */
export function keyRules(folder: string): KeyRules {
  return {
    of: (key) => {
      if (!IS_KEY.test(key)) return null
      try {
        const words = readFileSync(join(folder, key), 'utf8').trim().split(' ')
        return LEASE_PURPOSES.filter((purpose) => words.includes(purpose))
      } catch (error) {
        return codeOf(error) === 'ENOENT' ? null : []
      }
    },
    set: (key, purposes) => writeAside(join(folder, key), `${purposes.join(' ')}\n`, { mode: 0o600, flush: true }),
    keys: () => {
      try {
        return readdirSync(folder)
          .filter((name) => IS_KEY.test(name))
          .sort()
      } catch (error) {
        if (codeOf(error) === 'ENOENT') return []
        throw error
      }
    },
  }
}
