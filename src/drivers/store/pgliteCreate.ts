import { renameSync, rmSync } from 'node:fs'
import { PGlite } from '@electric-sql/pglite'

// Creating a database takes 0.8 GB for a few seconds: this process does it and ends, so that nobody keeps the memory.
// The folder appears whole or not at all.
const folder = process.argv[2]!
// The engine leaves its folders open to all; whoever opens the store closes the files too.
process.umask(0o077)
const aside = `${folder}.creating-${process.pid}`
try {
  const db = await PGlite.create(aside)
  await db.close()
  renameSync(aside, folder)
} catch (error) {
  rmSync(aside, { recursive: true, force: true })
  process.stderr.write(`${error instanceof Error ? error.message : 'unknown'}\n`)
  process.exitCode = 1
}
