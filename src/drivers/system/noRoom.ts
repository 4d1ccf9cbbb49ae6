import type { TouchstoneError } from '../../ports/errors.ts'
import { codeOf } from './codeOf.ts'
import { fault } from './faults.ts'

/** Limits of this machine; a thread that cannot begin wants files or memory too. */
const OUR_LIMITS: readonly unknown[] = ['EMFILE', 'ENFILE', 'ENOBUFS', 'ENOMEM', 'ERR_WORKER_INIT_FAILED']

/** The fault where a connection was not made for a limit of our own: nobody else is to blame for it (attack 459). */
export function noRoom(to: string, error: unknown): TouchstoneError | null {
  const why = codeOf(error)
  return OUR_LIMITS.includes(why) ? fault('NO_ROOM_TO_DIAL', { to, why: `${why}` }, error) : null
}
