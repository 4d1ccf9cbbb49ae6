import { userInfo } from 'node:os'
import { fileURLToPath } from 'node:url'
import { openLocalBox } from '../../drivers/remote/local/openLocalBox.ts'
import { parseSshTarget } from '../../drivers/remote/ssh/sshTarget.ts'
import { scriptUrl } from '../../drivers/system/scriptUrl.ts'
import type { RemoteBox } from '../../ports/remoteBox.ts'
import { fault } from '../faults.ts'
import type { LeaseTarget } from './openLeasedBox.ts'
import type { SshBoxTarget } from './openSshBox.ts'

/**
 * The box at an address, whichever way leads there: `local`, lease://…, or an address for SSH. Only the way that is taken is
 * loaded: who runs for long has both loaded before (attack 480).
 */
export async function openBox(target: SshBoxTarget & LeaseTarget, signal: AbortSignal): Promise<RemoteBox> {
  if (target.address === 'local') return openThisMachine(target.env, target.proverArguments)
  if (!target.address.startsWith('lease:')) return (await import('./openSshBox.ts')).openSshBox(target, signal)
  return (await import('./openLeasedBox.ts')).openLeasedBox(target, signal)
}

/** Refuses what leads nowhere before anything is begun: `local` is our own word, and may be an alias of somebody's (attack 263). */
export async function checkAddress(address: string): Promise<void> {
  if (address === 'local') throw fault('CALLED_LOCAL')
  if (address.startsWith('lease:')) (await import('./openLeasedBox.ts')).checkLeaseAddress(address)
  else parseSshTarget(address)
}

/**
 * What an address leads to, in one spelling: however it is written, it is one box. A provider is one, whether it is dialled or
 * dials in; an alias is what the user's own SSH settings make of it.
 */
export async function placeOf(address: string, signal: AbortSignal): Promise<string> {
  if (address === 'local') return address
  if (address.startsWith('lease:')) return address.slice(address.indexOf('#'))
  const { routeOf } = await import('../../drivers/remote/ssh/sshRoute.ts')
  const { formatSshAddress } = await import('../../drivers/remote/ssh/sshAddress.ts')
  const { fleetAddress } = await import('../validator/fleetAddress.ts')
  const { to } = await routeOf(parseSshTarget(address), userInfo().username, signal)
  return fleetAddress(formatSshAddress(to))
}

/** The prover of this clone, bundled by the build, as a child process of ours. */
export function openThisMachine(env: NodeJS.ProcessEnv, proverArguments: readonly string[]): RemoteBox {
  const prover = fileURLToPath(scriptUrl('../../bundled/prover.ts', import.meta.url))
  const errors = env.TOUCHSTONE_DEBUG ? 'inherit' : 'keep'
  return openLocalBox({ command: [process.execPath, prover, ...proverArguments], env, errors })
}

/** How the prover is started: on which devices, and whether it measures the rest of the box too. */
export const proverArguments = (devices: string, measureHost = false): readonly string[] => [
  '--devices',
  devices,
  ...(measureHost ? ['--measure-host'] : []),
]
