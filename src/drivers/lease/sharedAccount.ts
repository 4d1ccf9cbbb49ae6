import { mkdir, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { BoxAccess } from '../../ports/leases.ts'
import {
  addKeyLine,
  ensureLeaseId,
  ensureSafePath,
  ensureStillOpen,
  expiryOption,
  folderOf,
  makeLeaseFolder,
  runHere,
  startWatchdog,
  tagOf,
} from './accessFolder.ts'
import { CLOSE_SHARED, LEASE_SHELL } from './leaseScripts.ts'

export interface AccessOptions {
  /** Where leases leave their marks: `<TOUCHSTONE_HOME>/leases`. */
  readonly stateFolder: string
  /** How others reach the SSH server of this box. */
  readonly host: string
  readonly port: number
  /** `SHA256:…` of its host key. */
  readonly hostKey: string
}

export interface SharedAccountOptions extends AccessOptions {
  readonly user: string
  readonly authorizedKeysFile: string
}

/**
 * Access into the account the provider runs in, for want of anything better: the key may run commands and nothing else
 * (no terminal, no forwarding), but it is not kept from this account's files, and a process that leaves its group
 * outlives the lease. The answer says so: "shared account".
 */
export function sharedAccount(options: SharedAccountOptions): BoxAccess {
  const keys = ensureSafePath(options.authorizedKeysFile)
  const shell = ensureSafePath(join(options.stateFolder, 'lease-shell.sh'))
  const closeArgv = (id: string): readonly string[] => {
    const folder = ensureSafePath(folderOf(options.stateFolder, ensureLeaseId(id)))
    return ['/bin/sh', '-c', CLOSE_SHARED, 'sh', keys, tagOf(id), folder]
  }
  const close = async (id: string): Promise<void> => {
    await runHere(closeArgv(id), 'closing a lease')
  }
  return {
    open: async (lease) => {
      await mkdir(dirname(keys), { recursive: true, mode: 0o700 })
      const folder = await makeLeaseFolder(options.stateFolder, lease.id)
      await writeFile(shell, LEASE_SHELL, { mode: 0o600 })
      startWatchdog(folder, lease, Date.now(), closeArgv(lease.id))
      const limits = `restrict,${expiryOption(lease.expiresAtMs)},command="/bin/sh ${shell} ${folder}"`
      await addKeyLine(keys, `${limits} ${lease.sshKey} ${tagOf(lease.id)}`)
      await ensureStillOpen(folder, () => close(lease.id))
      const { user, host, port, hostKey } = options
      return { user, host, port, hostKey, confinement: 'shared account', tunnel: '' }
    },
    close,
  }
}
