import { join } from 'node:path'
import { equalBytes } from '../../core/bytes/bytes.ts'
import { decodeJson } from '../../core/bytes/decodeJson.ts'
import { checkRound, proveScore, type RoundRecord, roundRecord, scoreLeaf } from '../../core/ledger/roundRecord.ts'
import { type Ledger, OTHER_ROOT } from '../../ports/ledger.ts'
import { codeOf } from '../system/codeOf.ts'
import { readRegularFile } from '../system/readRegularFile.ts'
import { writeAside } from '../system/writeAside.ts'
import { fault } from './faults.ts'

/** More than 65 536 entries need. */
const MOST_BYTES = 32 * 1024 * 1024

/** A folder with one signed file for each round. It shows what was signed; that nothing else was signed, only a chain shows. */
export function fileLedger(folder: string): Ledger {
  const pathOf = ({ validator, round }: Pick<RoundRecord, 'validator' | 'round'>) =>
    join(folder, validator.slice(0, 16), `round-${round}.json`)
  return {
    async publish(record) {
      const path = pathOf(record)
      const there = readRound(path)
      if (there === null) writeAside(path, `${JSON.stringify(record)}\n`, { flush: true })
      else if (there.validator !== record.validator || there.root !== record.root) return OTHER_ROOT
      return { kind: 'published', where: path }
    },
    async confirms(proof) {
      const there = readRound(pathOf(proof))
      const known = there?.validator === proof.validator ? proveScore(there, proof.entry.box) : null
      return known !== null && equalBytes(scoreLeaf(known, known.entry), scoreLeaf(proof, proof.entry))
    },
  }
}

/** Null where there is none. */
function readRound(path: string): RoundRecord | null {
  const bad = (why: string, cause?: unknown) => fault('LEDGER_FILE_UNREADABLE', { path, why }, cause)
  let record: RoundRecord
  try {
    const bytes = readRegularFile(path, MOST_BYTES)
    if (typeof bytes === 'number') throw bad('too large')
    record = decodeJson(bytes, roundRecord, 'round')
  } catch (cause) {
    if (codeOf(cause) === 'ENOENT') return null
    throw fault.is(cause, 'LEDGER_FILE_UNREADABLE') ? cause : bad('not a round', cause)
  }
  const problem = checkRound(record)
  if (problem !== null) throw bad(problem)
  return record
}
