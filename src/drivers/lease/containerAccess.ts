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

/** Access into a container of its own: the key's every command runs inside it, and the container goes with the lease. */
export function containerAccess(options: ContainerOptions): BoxAccess {
  const keys = ensureSafePath(options.authorizedKeysFile)
  const shell = ensureSafePath(join(options.stateFolder, 'container-shell.sh'))
  const { engine, image, gpuFlags } = options
  const closeArgv = (id: string): readonly string[] => {
    const folder = ensureSafePath(folderOf(options.stateFolder, ensureLeaseId(id)))
    return ['/bin/sh', '-c', CLOSE_CONTAINER, 'sh', engine, containerOf(id), keys, tagOf(id), folder]
  }
  const close = async (id: string): Promise<void> => {
    await runHere(closeArgv(id), 'removing a container')
  }
  return {
    open: async (lease) => {
      await mkdir(dirname(keys), { recursive: true, mode: 0o700 })
      const folder = await makeLeaseFolder(options.stateFolder, lease.id)
      await writeFile(shell, CONTAINER_SHELL, { mode: 0o600 })
      startWatchdog(folder, lease, Date.now(), closeArgv(lease.id))
      const limits = [
        '--detach',
        '--rm',
        '--network',
        'none',
        '--cap-drop',
        'ALL',
        '--security-opt',
        'no-new-privileges',
      ]
      const sleeper = ['--entrypoint', 'sleep', image, 'infinity']
      const argv = [
        engine,
        'run',
        ...limits,
        '--pull',
        'never',
        '--name',
        containerOf(lease.id),
        ...gpuFlags,
        ...sleeper,
      ]
      await runHere(argv, 'starting a container')
      const command = `/bin/sh ${shell} ${ensureSafePath(engine)} ${containerOf(lease.id)}`
      const line = `restrict,${expiryOption(lease.expiresAtMs)},command="${command}" ${lease.sshKey} ${tagOf(lease.id)}`
      await addKeyLine(keys, line)
      await ensureStillOpen(folder, () => close(lease.id))
      const { user, host, port, hostKey } = options
      return { user, host, port, hostKey, confinement: 'container', tunnel: '' }
    },
    close,
  }
}
