import { z } from 'zod'
import type { LeaseBook } from '../../core/lease/leaseBook.ts'
import type { LeaseJournal } from '../../ports/leases.ts'
import { readIfThere, writeAside } from '../system/writeAside.ts'
import { fault } from './faults.ts'

const bookSchema = z.strictObject({
  leases: z.array(
    z.strictObject({
      id: z.string().regex(/^[0-9a-f]{32}$/),
      holder: z.string().regex(/^[0-9a-f]{64}$/),
      purpose: z.enum(['verify', 'rent']),
      sshKey: z.string().max(2000),
      askedAtMs: z.number(),
      expiresAtMs: z.number(),
      state: z.enum(['requested', 'open', 'released', 'expired']),
    }),
  ),
})

/** The book of leases in one file: written aside, forced to disk, renamed, and the rename forced to disk too. */
export function fileJournal(path: string): LeaseJournal {
  return {
    read: async () => parseBook(path, await readIfThere(path, '{"leases":[]}')),
    write: async (book) => writeAside(path, JSON.stringify(book), { mode: 0o600, flush: true }),
  }
}

function parseBook(path: string, text: string): LeaseBook {
  try {
    return bookSchema.parse(JSON.parse(text))
  } catch (cause) {
    throw fault('JOURNAL_DAMAGED', { path }, cause)
  }
}
