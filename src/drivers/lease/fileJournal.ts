import { mkdir, open, readFile, rename } from 'node:fs/promises'
import { dirname } from 'node:path'
import { z } from 'zod'
import type { LeaseBook } from '../../core/lease/leaseBook.ts'
import type { LeaseJournal } from '../../ports/leases.ts'
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
    read: async () => {
      const text = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
        if (error.code === 'ENOENT') return '{"leases":[]}'
        throw error
      })
      return parseBook(path, text)
    },
    write: async (book) => {
      await mkdir(dirname(path), { recursive: true, mode: 0o700 })
      const aside = `${path}.new`
      const file = await open(aside, 'w', 0o600)
      try {
        await file.writeFile(JSON.stringify(book))
        await file.datasync()
      } finally {
        await file.close()
      }
      await rename(aside, path)
      const folder = await open(dirname(path), 'r')
      await folder.sync().finally(() => folder.close())
    },
  }
}

function parseBook(path: string, text: string): LeaseBook {
  try {
    return bookSchema.parse(JSON.parse(text))
  } catch (cause) {
    throw fault('JOURNAL_DAMAGED', { path }, cause)
  }
}
