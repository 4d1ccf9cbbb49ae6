import { toHex } from '../../core/bytes/hex.ts'
import type { Lease } from '../../core/lease/leaseBook.ts'
import { fault as remoteFault } from '../../drivers/remote/faults.ts'
import { openSshKey } from '../../drivers/remote/leased/openSshKey.ts'
import { tryLogin } from '../../drivers/remote/ssh/tryLogin.ts'
import type { BoxAccess } from '../../ports/leases.ts'
import { fault } from '../faults.ts'
import { system } from '../system.ts'

const LEASE_MS = 60_000
const CONNECT_MS = 10_000
const LOOPBACK = '127.0.0.1'

/**
 * Gives this box a lease on itself and logs in with it, as a validator would. A router may not let a box reach itself by
 * its own name: then loopback is tried, and why the name failed is answered.
 */
export async function trySsh(
  access: BoxAccess,
  { key, files }: { readonly key: string; readonly files: { readonly keys: string; readonly hostKey: string } },
  signal: AbortSignal,
): Promise<string | null> {
  const own = openSshKey(system.randomness.bytes(32))
  const nowMs = system.clock.wallTime().getTime()
  const lease: Lease = {
    id: toHex(system.randomness.bytes(16)),
    holder: key,
    purpose: 'verify',
    sshKey: own.publicLine,
    askedAtMs: nowMs,
    expiresAtMs: nowMs + LEASE_MS,
    state: 'requested',
  }
  try {
    const details = await access.open(lease, signal)
    const login = { privateKey: own.privateKey, hostKey: details.hostKey, connectLimitMs: CONNECT_MS }
    const tried = async (more: { readonly at?: string }) =>
      tryLogin(details, { ...login, ...more }, signal).then(
        () => null,
        (error: unknown) => error as Error,
      )
    const why = await tried({})
    if (why === null) return null
    const still = isAway(why) && details.host !== LOOPBACK ? await tried({ at: LOOPBACK }) : why
    if (still === null) return why.message
    // What was tried at loopback still bears the name: the name's own trouble is what can be read.
    const told = isAway(still) && still !== why ? `${why.message}; nor does ${LOOPBACK} answer` : still.message
    throw fault('SSH_NOT_READY', { why: told, mend: mendOf(still, files) }, still)
  } finally {
    await access.close(lease.id)
  }
}

const isAway = (error: unknown): boolean => remoteFault.is(error, 'BOX_UNREACHABLE', 'BOX_TIMEOUT')

function mendOf(error: unknown, { keys, hostKey }: { readonly keys: string; readonly hostKey: string }): string {
  if (isAway(error)) return 'Start its SSH server, or say where it is with --ssh-host and --ssh-port.'
  if (remoteFault.is(error, 'HOST_KEY_CHANGED', 'SSH_NO_COMMON_KEY'))
    return `It shows another key than ${hostKey}: name the .pub file of the one it shows with --host-key-file.`
  if (remoteFault.is(error, 'SSH_AUTH_FAILED'))
    return `Its sshd must take keys from ${keys}: see PubkeyAuthentication, AuthorizedKeysFile, AllowUsers and PermitRootLogin in sshd_config.`
  return 'Log in by hand with a key and run "true", and fix what it says.'
}
