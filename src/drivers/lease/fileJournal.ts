import { leaseBookSchema } from '../../core/lease/leaseBook.ts'
import type { LeaseJournal } from '../../ports/leases.ts'
import { readIfThere, writeAside } from '../system/writeAside.ts'
import { fault } from './faults.ts'

/** The journal of leases as one JSON file, replaced whole; a damaged one is a fault, because access may hang on it. */
export function fileJournal(path: string): LeaseJournal {
  return {
    read: async () => {
      const text = await readIfThere(path, '{"leases":[]}')
      try {
        return leaseBookSchema.parse(JSON.parse(text))
      } catch (cause) {
        throw fault('JOURNAL_DAMAGED', { path }, cause)
      }
    },
    write: async (book) => writeAside(path, JSON.stringify(book), { mode: 0o600, flush: true }),
  }
}
