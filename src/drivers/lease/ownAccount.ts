import { chown, mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { BoxAccess } from '../../ports/leases.ts'
import { confinedAccess, ensureLeaseId, ensureSafePath, keyLine, runHere } from './accessFolder.ts'
import { CLOSE_ACCOUNT } from './leaseScripts.ts'
import type { AccessOptions } from './sharedAccount.ts'

/** Long enough to tell two leases apart, short enough for the 32 letters of an account name. */
export const accountOf = (id: string): string => `ts-${ensureLeaseId(id).slice(0, 20)}`

/** Access into an unprivileged account made for this lease and removed with it, processes and files included. Needs root. */
export function ownAccount({ stateFolder, host, port, hostKey }: AccessOptions): BoxAccess {
  return confinedAccess({
    stateFolder,
    closing: 'removing an account',
    closeArgv: (id, folder) => ['/bin/sh', '-c', CLOSE_ACCOUNT, 'sh', accountOf(id), folder],
    letIn: async (lease) => {
      const user = accountOf(lease.id)
      // A password of "*" matches nothing, yet does not count as locked, which sshd would refuse.
      const flags = ['--create-home', '--user-group', '--shell', '/bin/sh', '--password', '*', '--comment', 'lease']
      await runHere(['useradd', ...flags, user], 'making an account')
      const [home, uid, gid] = await whereIs(user)
      const ssh = join(home, '.ssh')
      await mkdir(ssh, { mode: 0o700 })
      await writeFile(join(ssh, 'authorized_keys'), `${keyLine(lease)}\n`, { mode: 0o600 })
      for (const path of [ssh, join(ssh, 'authorized_keys')]) await chown(path, uid, gid)
      return { user, host, port, hostKey, confinement: 'own account', tunnel: '' }
    },
  })
}

async function whereIs(user: string): Promise<readonly [home: string, uid: number, gid: number]> {
  const entry = (await runHere(['getent', 'passwd', user], 'looking up an account')).trim().split(':')
  return [ensureSafePath(entry[5] ?? ''), Number(entry[2]), Number(entry[3])]
}
