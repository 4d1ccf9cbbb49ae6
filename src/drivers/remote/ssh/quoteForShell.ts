import type { TouchstoneError } from '../../../ports/errors.ts'
import { fault } from '../faults.ts'

/** Words that need no quotes in any shell; everything else is wrapped. */
const PLAIN = /^[A-Za-z0-9_./:=@%+-]+$/

/**
 * SSH hands the server one string, which the account's login shell splits again. This is the only place that makes that
 * string: each argument in single quotes, within which a shell expands nothing; a quote itself leaves, is escaped, and
 * comes back.
 */
export function quoteForShell(argv: readonly string[]): string {
  if (argv.length === 0) throw badArgument('no command')
  return argv.map(quoteArgument).join(' ')
}

function quoteArgument(argument: string): string {
  if (argument.includes('\0')) throw badArgument('a NUL byte')
  if (/\p{Surrogate}/u.test(argument)) throw badArgument('half a surrogate pair')
  return PLAIN.test(argument) ? argument : `'${argument.replaceAll("'", "'\\''")}'`
}

const badArgument = (what: string): TouchstoneError => fault('BAD_ARGUMENT', { what })
