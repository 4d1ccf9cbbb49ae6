import { lstatSync } from 'node:fs'
import { join } from 'node:path'
import { decodeJson } from '../../core/bytes/decodeJson.ts'
import { type Revocations, revocationSchema } from '../../core/certificate/signers.ts'
import { fault } from './faults.ts'
import { readRegularFile } from './readRegularFile.ts'

const MOST_BYTES = 4 * 1024 * 1024

/** Keys that no longer sign: by `<home>/revoked.json` where there is one, and by the named file too. */
export function loadRevocations(named: string | undefined, home: string): Revocations {
  const own = join(home, 'revoked.json')
  // A link that leads nowhere is a list that cannot be read, not one that names nobody (attack 277).
  const kept = isThere(own) ? readList(own) : []
  return named === undefined ? kept : bothHold(kept, readList(named))
}

function isThere(path: string): boolean {
  try {
    return lstatSync(path, { throwIfNoEntry: false }) !== undefined
  } catch (cause) {
    throw fault('REVOCATIONS_UNREADABLE', { path }, cause)
  }
}

function readList(path: string): Revocations {
  try {
    const read = readRegularFile(path, MOST_BYTES)
    if (typeof read === 'number') throw new Error('too large')
    return decodeJson(read, revocationSchema, 'revocations').keys
  } catch (cause) {
    throw fault('REVOCATIONS_UNREADABLE', { path }, cause)
  }
}

/** A list that is named hides none of the reader's own. Where they tell other ends of one key, it was revoked (attack 293). */
function bothHold(kept: Revocations, named: Revocations): Revocations {
  const [ends, others] = [endsIn(kept), endsIn(named)]
  const isDisputed = (key: string) => ends.has(key) && others.has(key) && ends.get(key) !== others.get(key)
  return [...kept, ...named].map(({ key, since, ...end }) =>
    isDisputed(key) ? { key, since, status: 'revoked' } : { key, since, ...end },
  )
}

/** What became of each key: its successors, and nobody where it was revoked. */
function endsIn(list: Revocations): ReadonlyMap<string, string> {
  const ends = new Map<string, string[]>()
  for (const entry of list)
    ends.set(entry.key, [...(ends.get(entry.key) ?? []), entry.status === 'rotated' ? entry.successor : ''])
  return new Map([...ends].map(([key, all]) => [key, [...new Set(all)].sort().join()]))
}
