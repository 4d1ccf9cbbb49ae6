import { existsSync, readFileSync } from 'node:fs'
import type { Unshown } from '../../apps/node/boxJudge.ts'
import { writeAside } from '../../drivers/system/writeAside.ts'
import type { Log } from '../../ports/log.ts'

/** Reports that are hidden until the next epoch, in a file that only this account reads. One that cannot be written is told. */
export const unshownReports = (path: string, log: Log): Unshown => ({
  read: () => (existsSync(path) ? new Uint8Array(readFileSync(path)) : new Uint8Array(0)),
  write: (reports) => {
    try {
      writeAside(path, reports, { mode: 0o600, flush: true })
    } catch (error) {
      log.error('a report was not kept', { why: error instanceof Error ? error.message : String(error) })
    }
  },
})
