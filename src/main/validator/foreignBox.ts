import { fault as remoteFault } from '../../drivers/remote/faults.ts'
import { parseSshAddress } from '../../drivers/remote/ssh/sshAddress.ts'
import { addressesOf, isNoBox } from '../../drivers/system/hostAddresses.ts'
import { fault } from '../faults.ts'
import { HUB, type ValidatorConfig } from './validatorConfig.ts'

/**
 * Whoever may add boxes might add this machine: its own GPU under the name of another, or its loopback as a box. Boxes that
 * validator.yaml names are its operator's own word.
 */
export const mayBeHere = ({ boxes, api }: ValidatorConfig, box: { readonly id: string; readonly address: string }) =>
  api?.ownMachine === true || boxes.some(({ id, address }) => id === box.id && address === box.address)

/** Refuses an address of this machine, or of none. A name that leads nowhere yet may lead somewhere later. */
export async function ensureForeign(address: string): Promise<readonly string[]> {
  if (address.startsWith(HUB)) return []
  const found = address === 'local' ? [] : await addressesOf(hostOf(address))
  if (address === 'local' || found.some(isNoBox)) throw fault('OWN_MACHINE')
  return found
}

/**
 * What to dial: a number for every name, looked up where none waits for another (attack 458), and of a box that is not ours to
 * look at the very one that was judged.
 */
export async function addressToDial(address: string, mayBeHere: boolean): Promise<{ readonly at?: string }> {
  if (address.startsWith(HUB) || (mayBeHere && address === 'local')) return {}
  const [at] = mayBeHere ? await addressesOf(hostOf(address)) : await ensureForeign(address)
  if (at !== undefined) return { at }
  throw remoteFault('BOX_UNREACHABLE', { address, why: 'its name does not resolve' })
}

const hostOf = (address: string): string =>
  address.startsWith('lease:')
    ? address.replace(/^lease:\/\/\[?/, '').replace(/\]?:[0-9]{1,5}#.*$/, '')
    : parseSshAddress(address, 'anybody').host
