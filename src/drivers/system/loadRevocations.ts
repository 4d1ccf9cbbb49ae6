import { lstatSync } from 'node:fs'
import { join } from 'node:path'
import { decodeJson } from '../../core/bytes/decodeJson.ts'
import { type Revocations, revocationSchema } from '../../core/certificate/signers.ts'
import { fault } from './faults.ts'
import { readRegularFile } from './readRegularFile.ts'

const MOST_BYTES = 4 * 1024 * 1024

/** Keys that no longer sign: from the named file, otherwise from `<home>/revoked.json` where there is one. */
export function loadRevocations(named: string | undefined, home: string): Revocations {
  const path = named ?? join(home, 'revoked.json')
  try {
    // A link that leads nowhere is a list that cannot be read, not one that names nobody (attack 277).
    if (named === undefined && !lstatSync(path, { throwIfNoEntry: false })) return []
    const read = readRegularFile(path, MOST_BYTES)
    if (typeof read === 'number') throw new Error('too large')
    return decodeJson(read, revocationSchema, 'revocations').keys
  } catch (cause) {
    throw fault('REVOCATIONS_UNREADABLE', { path }, cause)
  }
}
