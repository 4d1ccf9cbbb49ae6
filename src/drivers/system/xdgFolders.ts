import { homedir, userInfo } from 'node:os'
import { isAbsolute, join } from 'node:path'
import { fault } from './faults.ts'

/**
 * The home of whoever runs us. HOME counts where it is a whole path: below any other would be whatever lies in the working
 * folder, which may be a stranger's, with keys for us to trust in it (attack 278).
 */
export const ownHome = (told = homedir()): string => (isAbsolute(told) ? told : userInfo().homedir)

/**
 * The folder of one kind after the XDG rules, where a relative path counts as none. TOUCHSTONE_HOME, where it is set, holds
 * everything: a service, a container and a test have one folder to keep.
 */
const folderOf = (variable: string, usual: readonly string[]) => (env: NodeJS.ProcessEnv) => {
  if (env.TOUCHSTONE_HOME) return wholePath(env.TOUCHSTONE_HOME)
  const given = env[variable] ?? ''
  return join(isAbsolute(given) ? given : join(ownHome(), ...usual), 'touchstone')
}

function wholePath(path: string): string {
  if (!isAbsolute(path)) throw fault('HOME_NOT_WHOLE', { path })
  return path
}

/** Settings that a person writes: `validator.yaml`. */
export const configFolder = folderOf('XDG_CONFIG_HOME', ['.config'])

/** What must not be lost: keys, and the host keys we trust. */
export const dataFolder = folderOf('XDG_DATA_HOME', ['.local', 'share'])

/** What is under way and means nothing on another machine: leases, rents, the last bench. */
export const stateFolder = folderOf('XDG_STATE_HOME', ['.local', 'state'])

/** What is made again where it is missing: provers that carry Node, the unpacked program of the single executable. */
export const cacheFolder = folderOf('XDG_CACHE_HOME', ['.cache'])
