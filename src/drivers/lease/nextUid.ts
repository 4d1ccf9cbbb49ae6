import { readFile } from 'node:fs/promises'
import { writeAside } from '../system/writeAside.ts'
import { fault } from './faults.ts'

/**
 * User ids of leases, each for one lease and never again: above what systems, containers and directories hand out, and
 * below 2^31. At ten leases an hour they last for a thousand years.
 */
export const FIRST_UID = 2_010_000_000
export const PAST_UIDS = 2_110_000_000
/** Nobody has it, and nobody gets it. */
export const NOBODYS_UID = PAST_UIDS + 1
/** Of the machine, not of one provider on it. */
export const UID_FILE = '/var/lib/touchstone/lease-uid'

const YEAR_2026_MS = Date.UTC(2026, 0, 1)
const MINUTE_MS = 60_000

/**
 * The next user id. The file holds it and is on disk before the id is used. Should the file be lost, the minutes since 2026
 * take its place: a machine that gives less than a lease a minute is past every id it has used.
 */
export async function nextUid(file: string, nowMs = Date.now()): Promise<number> {
  const floor = FIRST_UID + Math.max(0, Math.floor((nowMs - YEAR_2026_MS) / MINUTE_MS))
  const text = await readFile(file, 'utf8').catch(() => '')
  const kept = /^[0-9]{10}\n$/.test(text) ? Number(text) : 0
  const uid = Math.max(floor, kept)
  if (uid >= PAST_UIDS) throw fault('USER_IDS_USED_UP', { file, first: FIRST_UID })
  writeAside(file, `${uid + 1}\n`, { mode: 0o600, flush: true })
  return uid
}
