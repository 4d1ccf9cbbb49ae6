import { readdirSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { writeAside } from '../../drivers/system/writeAside.ts'
import type { Log } from '../../ports/log.ts'

/** At least 19 epochs of full reports. */
const MOST_RECORDS = 10_000

/** Keeps the records of checks in a folder, the newest ones. One that cannot be written is told, and nothing waits for it. */
export function checkRecords(folder: string, log: Log, most = MOST_RECORDS): (name: string, record: string) => void {
  let kept: string[] | null = null
  return (name, record) => {
    try {
      writeAside(join(folder, `${name}.json`), record)
      kept = kept === null ? oldestFirst(folder) : [...kept.filter((other) => other !== `${name}.json`), `${name}.json`]
      for (const old of kept.splice(0, Math.max(0, kept.length - most))) rmSync(join(folder, old), { force: true })
    } catch (error) {
      log.error('the record of a check was not kept', { why: error instanceof Error ? error.message : String(error) })
    }
  }
}

function oldestFirst(folder: string): string[] {
  const found = readdirSync(folder).filter((name) => name.endsWith('.json'))
  const changed = (name: string) => statSync(join(folder, name)).mtimeMs
  return found
    .map((name) => ({ name, atMs: changed(name) }))
    .sort((a, b) => a.atMs - b.atMs)
    .map(({ name }) => name)
}
