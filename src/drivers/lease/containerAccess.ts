import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { BoxAccess } from '../../ports/leases.ts'
import { addKeyLine, confinedAccess, ensureLeaseId, ensureSafePath, keyLine, runHere, tagOf } from './accessFolder.ts'
import { CLOSE_CONTAINER, CONTAINER_SHELL } from './leaseScripts.ts'
import type { SharedAccountOptions } from './sharedAccount.ts'

export interface ContainerOptions extends SharedAccountOptions {
  /** `docker` or `podman`. */
  readonly engine: string
  /** An image with a POSIX shell, present on the box: nothing is fetched while a validator waits. */
  readonly image: string
  /** What hands the cards to a container: `--gpus all`, or devices by name. */
  readonly gpuFlags: readonly string[]
}

export const containerOf = (id: string): string => `touchstone-${ensureLeaseId(id)}`

const LIMITS = ['--detach', '--rm', '--network', 'none', '--cap-drop', 'ALL', '--security-opt', 'no-new-privileges']

/** Access into a container of its own: the key's every command runs inside it, and the container goes with the lease. */
export function containerAccess(options: ContainerOptions): BoxAccess {
  const { stateFolder, image, gpuFlags, user, host, port, hostKey } = options
  const keys = ensureSafePath(options.authorizedKeysFile)
  const shell = ensureSafePath(join(stateFolder, 'container-shell.sh'))
  const engine = ensureSafePath(options.engine)
  return confinedAccess({
    stateFolder,
    closing: 'removing a container',
    closeArgv: (id, folder) => [
      ...['/bin/sh', '-c', CLOSE_CONTAINER, 'sh'],
      ...[engine, containerOf(id), keys, tagOf(id), folder],
    ],
    letIn: async (lease) => {
      await writeFile(shell, CONTAINER_SHELL, { mode: 0o600 })
      const name = containerOf(lease.id)
      const sleeper = ['--entrypoint', 'sleep', image, 'infinity']
      await runHere(
        [engine, 'run', ...LIMITS, '--pull', 'never', '--name', name, ...gpuFlags, ...sleeper],
        'starting a container',
      )
      await addKeyLine(keys, keyLine(lease, `/bin/sh ${shell} ${engine} ${name}`))
      return { user, host, port, hostKey, confinement: 'container', tunnel: '' }
    },
  })
}
