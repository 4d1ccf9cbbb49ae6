import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { decodeJson } from '../../core/bytes/decodeJson.ts'
import { type Revocations, revocationSchema } from '../../core/certificate/signers.ts'
import { fault } from './faults.ts'
import { readRegularFile } from './readRegularFile.ts'

const MOST_BYTES = 4 * 1024 * 1024

/** Keys that no longer sign: from the named file, otherwise from `<home>/revoked.json` where there is one. */
export function loadRevocations(named: string | undefined, home: string): Revocations {
  const path = named ?? join(home, 'revoked.json')
  if (named === undefined && !existsSync(path)) return []
  try {
    const read = readRegularFile(path, MOST_BYTES)
    if (typeof read === 'number') throw new Error('too large')
    return decodeJson(read, revocationSchema, 'revocations').keys
  } catch (cause) {
    throw fault('REVOCATIONS_UNREADABLE', { path }, cause)
  }
}
