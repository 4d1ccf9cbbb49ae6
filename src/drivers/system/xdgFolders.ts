import { homedir } from 'node:os'
import { isAbsolute, join } from 'node:path'

/**
 * The folder of one kind after the XDG rules, where a relative path counts as none. TOUCHSTONE_HOME, where it is set, holds
 * everything: a service, a container and a test have one folder to keep.
 */
const folderOf = (variable: string, usual: readonly string[]) => (env: NodeJS.ProcessEnv) => {
  if (env.TOUCHSTONE_HOME) return env.TOUCHSTONE_HOME
  const given = env[variable] ?? ''
  return join(isAbsolute(given) ? given : join(homedir(), ...usual), 'touchstone')
}

/** Settings that a person writes: `validator.yaml`. */
export const configFolder = folderOf('XDG_CONFIG_HOME', ['.config'])

/** What must not be lost: keys, and the host keys we trust. */
export const dataFolder = folderOf('XDG_DATA_HOME', ['.local', 'share'])

/** What is under way and means nothing on another machine: leases, rents, the last bench. */
export const stateFolder = folderOf('XDG_STATE_HOME', ['.local', 'state'])

/** What is made again where it is missing: provers that carry Node, the unpacked program of the single executable. */
export const cacheFolder = folderOf('XDG_CACHE_HOME', ['.cache'])
