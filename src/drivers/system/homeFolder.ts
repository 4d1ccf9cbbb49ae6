import { homedir } from 'node:os'
import { isAbsolute, join } from 'node:path'

/** Keys and what they signed for live here; TOUCHSTONE_HOME moves it. */
export const homeFolder = (env: NodeJS.ProcessEnv): string =>
  env.TOUCHSTONE_HOME || join(xdg(env.XDG_DATA_HOME, '.local', 'share'), 'touchstone')

/** What may be lost, such as the last bench; under TOUCHSTONE_HOME where that is set. */
export const stateFolder = (env: NodeJS.ProcessEnv): string =>
  env.TOUCHSTONE_HOME || join(xdg(env.XDG_STATE_HOME, '.local', 'state'), 'touchstone')

/** The convention has it that a relative path is passed over. */
const xdg = (named: string | undefined, ...otherwise: readonly string[]): string =>
  named && isAbsolute(named) ? named : join(homedir(), ...otherwise)
