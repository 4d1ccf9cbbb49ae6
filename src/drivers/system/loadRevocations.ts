import { existsSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { decodeJson } from '../../core/bytes/decodeJson.ts'
import { type Revocations, revocationSchema } from '../../core/certificate/signers.ts'
import { TouchstoneError } from '../../ports/errors.ts'

const MOST_BYTES = 4 * 1024 * 1024

/** Keys that no longer sign: from the named file, otherwise from `<home>/revoked.json` where there is one. */
export function loadRevocations(named: string | undefined, home: string): Revocations {
  const path = named ?? join(home, 'revoked.json')
  if (named === undefined && !existsSync(path)) return []
  try {
    if (statSync(path).size > MOST_BYTES) throw new Error('too large')
    return decodeJson(readFileSync(path), revocationSchema, 'revocations').keys
  } catch (cause) {
    throw new TouchstoneError(
      { code: 'REVOCATIONS_UNREADABLE', path },
      {
        message: `the list of revoked keys in ${path} cannot be used`,
        blame: 'user',
        retry: false,
        nextStep: 'Write it as docs/spec/certificate.md C9 says, or name another file with --revoked.',
        cause,
      },
    )
  }
}
