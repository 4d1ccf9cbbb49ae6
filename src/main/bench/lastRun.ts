import { join } from 'node:path'
import { type BenchReport, benchReportSchema } from '../../core/bench/benchReport.ts'
import { decodeJson } from '../../core/bytes/decodeJson.ts'
import { codeOf } from '../../drivers/system/codeOf.ts'
import { readRegularFile } from '../../drivers/system/readRegularFile.ts'
import { writeAside } from '../../drivers/system/writeAside.ts'
import { stateFolder } from '../../drivers/system/xdgFolders.ts'
import { fault } from '../faults.ts'

const MOST_BYTES = 2 ** 21

const lastFile = (env: NodeJS.ProcessEnv): string => join(stateFolder(env), 'last-bench.json')

/** The run to compare with: the one that was named, or the last one here, or null where there is none to read. */
export function earlierRun(named: string | undefined, env: NodeJS.ProcessEnv): BenchReport | null {
  if (named !== undefined) return readRun(named)
  try {
    return readRun(lastFile(env))
  } catch {
    return null
  }
}

/** For the next time. A folder that cannot be written to costs the comparison, not the answer. */
export function keepRun(report: BenchReport, env: NodeJS.ProcessEnv): void {
  try {
    writeAside(lastFile(env), `${JSON.stringify(report)}\n`, { mode: 0o600 })
  } catch {}
}

function readRun(file: string): BenchReport {
  try {
    const bytes = readRegularFile(file, MOST_BYTES)
    if (typeof bytes === 'number') throw new Error('larger than any bench')
    return decodeJson(bytes, benchReportSchema, 'bench')
  } catch (error) {
    const why = codeOf(error) ? 'it cannot be read' : error instanceof Error ? error.message : 'unreadable'
    throw fault('NOT_A_BENCH', { file, why }, error)
  }
}
