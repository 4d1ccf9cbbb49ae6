import { chown, mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { BoxAccess } from '../../ports/leases.ts'
import { confinedAccess, ensureLeaseId, ensureSafePath, keyLine, runHere } from './accessFolder.ts'
import { CLOSE_ACCOUNT } from './leaseScripts.ts'
import { NOBODYS_UID, nextUid, UID_FILE } from './nextUid.ts'
import type { AccessOptions } from './sharedAccount.ts'

export interface OwnAccountOptions extends AccessOptions {
  /** Where the next user id is kept; one for the whole machine unless a test says otherwise. */
  readonly uidFile?: string
  /** Where control groups are mounted. */
  readonly controlGroups?: string
}

/** Long enough to tell two leases apart, short enough for the 32 letters of an account name. */
export const accountOf = (id: string): string => `ts-${ensureLeaseId(id).slice(0, 20)}`

/** A password of "*" matches nothing, yet does not count as locked, which sshd would refuse. */
const FLAGS = ['--create-home', '--shell', '/bin/sh', '--password', '*', '--comment', 'lease', '--no-log-init']
/** Ids below an account's own would let its processes run as somebody whom closing does not look for. */
const NO_IDS_BELOW = ['--key', 'SUB_UID_COUNT=0', '--key', 'SUB_GID_COUNT=0']

/** Access into an unprivileged account made for this lease and removed with it, processes and files included. Needs root. */
export function ownAccount(options: OwnAccountOptions): BoxAccess {
  const { stateFolder, host, port, hostKey, uidFile = UID_FILE, controlGroups = '/sys/fs/cgroup' } = options
  return confinedAccess({
    stateFolder,
    closing: 'removing an account',
    closeScript: CLOSE_ACCOUNT,
    closeArguments: (id, folder) => [accountOf(id), folder, String(NOBODYS_UID), controlGroups],
    letIn: async (lease, folder) => {
      const user = accountOf(lease.id)
      const uid = await nextUid(uidFile)
      await writeFile(join(folder, 'uid'), `${uid}\n`, { mode: 0o600 })
      await runHere(['groupadd', '--gid', String(uid), user], 'making a group')
      const ids = ['--uid', String(uid), '--gid', String(uid)]
      await runHere(['useradd', ...FLAGS, ...NO_IDS_BELOW, ...ids, user], 'making an account')
      const ssh = join(await homeOf(user), '.ssh')
      await mkdir(ssh, { mode: 0o700 })
      await writeFile(join(ssh, 'authorized_keys'), `${keyLine(lease)}\n`, { mode: 0o600 })
      for (const path of [ssh, join(ssh, 'authorized_keys')]) await chown(path, uid, uid)
      return { user, host, port, hostKey, confinement: 'own account', tunnel: '' }
    },
  })
}

async function homeOf(user: string): Promise<string> {
  const entry = (await runHere(['getent', 'passwd', user], 'looking up an account')).trim().split(':')
  return ensureSafePath(entry[5] ?? '')
}
