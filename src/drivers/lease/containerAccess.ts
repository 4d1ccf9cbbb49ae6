import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { BoxAccess } from '../../ports/leases.ts'
import { addKeyLine, confinedAccess, ensureLeaseId, ensureSafePath, keyLine, runHere, tagOf } from './accessFolder.ts'
import { fault } from './faults.ts'
import { CLOSE_CONTAINER, CONTAINER_INIT, CONTAINER_SHELL } from './leaseScripts.ts'
import type { SharedAccountOptions } from './sharedAccount.ts'

export interface ContainerOptions extends SharedAccountOptions {
  /** `docker` or `podman`. */
  readonly engine: string
  /** An image with a POSIX shell, present on the box: nothing is fetched while a validator waits. */
  readonly image: string
  /** What hands the cards to a container: `--gpus all`, or devices by name. */
  readonly gpuFlags: readonly string[]
  /** The provider's own, where the settings of its engine are. */
  readonly env: NodeJS.ProcessEnv
}

export const containerOf = (id: string): string => `touchstone-${ensureLeaseId(id)}`

const LIMITS = '--rm --network none --cap-drop ALL --security-opt no-new-privileges --pull never'.split(' ')

/** How `docker run` and `podman run` are asked, for a lease and for the trial before. */
export const confinedRun = (
  { image, gpuFlags }: Pick<ContainerOptions, 'image' | 'gpuFlags'>,
  flags: readonly string[],
  script: readonly string[],
): readonly string[] => ['run', ...LIMITS, ...flags, ...gpuFlags, '--entrypoint', 'sh', image, '-c', ...script]

/** Podman would otherwise wait ten seconds for the container to end by itself, and the lease would be over by then. */
const AT_ONCE = ['--stop-signal', 'KILL']

/** Where the engine of this account is to be found: sshd hands none of it to a forced command. */
const ENGINE_SETTINGS = [
  'DOCKER_HOST',
  'DOCKER_CONTEXT',
  'DOCKER_CONFIG',
  'CONTAINER_HOST',
  'CONTAINERS_CONF',
  'CONTAINERS_STORAGE_CONF',
  'XDG_RUNTIME_DIR',
  'XDG_CONFIG_HOME',
  'XDG_DATA_HOME',
]

/** Lines for a shell; a value with letters that it would read in its own way is a fault of the provider's settings. */
function engineSettings(env: NodeJS.ProcessEnv): string {
  const set = ENGINE_SETTINGS.filter((name) => (env[name] ?? '') !== '')
  return set.map((name) => `export ${name}=${ensureSafeValue(name, env[name]!)}\n`).join('')
}

function ensureSafeValue(name: string, value: string): string {
  if (/^[A-Za-z0-9._/:@+-]+$/.test(value)) return value
  throw fault('UNSAFE_SETTING', { name })
}

/** Access into a container of its own: the key's every command runs inside it, and the container goes with the lease. */
export function containerAccess(options: ContainerOptions): BoxAccess {
  const { stateFolder, user, host, port, hostKey } = options
  const keys = ensureSafePath(options.authorizedKeysFile)
  const shell = ensureSafePath(join(stateFolder, 'container-shell.sh'))
  const engine = ensureSafePath(options.engine)
  const settings = engineSettings(options.env)
  return confinedAccess({
    stateFolder,
    closing: 'removing a container',
    closeScript: CLOSE_CONTAINER,
    closeArguments: (id, folder) => [engine, containerOf(id), keys, tagOf(id), folder],
    letIn: async (lease) => {
      await writeFile(shell, settings + CONTAINER_SHELL, { mode: 0o600 })
      const name = containerOf(lease.id)
      const flags = ['--detach', ...AT_ONCE, '--name', name]
      const seconds = Math.max(1, Math.ceil((lease.expiresAtMs - Date.now()) / 1000))
      const first = [CONTAINER_INIT, 'sh', String(seconds)]
      await runHere([engine, ...confinedRun(options, flags, first)], 'starting a container')
      await addKeyLine(keys, keyLine(lease, `/bin/sh ${shell} ${engine} ${name}`))
      return { user, host, port, hostKey, confinement: 'container', tunnel: '' }
    },
  })
}
