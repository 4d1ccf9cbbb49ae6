import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { BoxAccess } from '../../ports/leases.ts'
import { addKeyLine, confinedAccess, ensureSafePath, keyLine, tagOf } from './accessFolder.ts'
import { CLOSE_SHARED, LEASE_SHELL } from './leaseScripts.ts'

export interface AccessOptions {
  /** Where leases leave their marks: `<TOUCHSTONE_HOME>/leases`. */
  readonly stateFolder: string
  /** How others reach the SSH server of this box. */
  readonly host: string
  readonly port: number
  /** `SHA256:…` of its host key. */
  readonly hostKey: string
  /** How long a lease waits for what another left to be removed. */
  readonly roomWaitMs?: number
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
export function sharedAccount({ stateFolder, authorizedKeysFile, ...options }: SharedAccountOptions): BoxAccess {
  const keys = ensureSafePath(authorizedKeysFile)
  const shell = ensureSafePath(join(stateFolder, 'lease-shell.sh'))
  return confinedAccess({
    stateFolder,
    roomWaitMs: options.roomWaitMs,
    closing: 'closing a lease',
    closeScript: CLOSE_SHARED,
    closeArguments: (id, folder) => [keys, tagOf(id), folder],
    letIn: async (lease, folder) => {
      await writeFile(shell, LEASE_SHELL, { mode: 0o600 })
      await addKeyLine(keys, keyLine(lease, `/bin/sh ${shell} ${folder}`))
      const { user, host, port, hostKey } = options
      return { user, host, port, hostKey, confinement: 'shared account', tunnel: '' }
    },
  })
}
