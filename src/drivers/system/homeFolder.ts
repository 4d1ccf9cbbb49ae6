import { homedir } from 'node:os'
import { join } from 'node:path'

/** Keys and state live here; TOUCHSTONE_HOME moves it. */
export const homeFolder = (env: NodeJS.ProcessEnv): string =>
  env.TOUCHSTONE_HOME || join(homedir(), '.local', 'share', 'touchstone')
