import { fileURLToPath } from 'node:url'
import { openLocalBox } from '../../drivers/remote/local/openLocalBox.ts'
import { scriptUrl } from '../../drivers/system/scriptUrl.ts'
import type { RemoteBox } from '../../ports/remoteBox.ts'

/** The prover of this clone as a child process of ours. */
export function openThisMachine(env: NodeJS.ProcessEnv, proverArguments: readonly string[]): RemoteBox {
  const prover = fileURLToPath(scriptUrl('../prover.ts', import.meta.url))
  const errors = env.TOUCHSTONE_DEBUG ? 'inherit' : 'keep'
  return openLocalBox({ command: [process.execPath, prover, ...proverArguments], env, errors })
}
