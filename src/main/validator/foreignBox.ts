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

/** What to dial: of a box that is not ours to look at, the very address that was judged, and not its name once more. */
export async function foreignAddress(address: string): Promise<{ readonly at?: string }> {
  const [at] = await ensureForeign(address)
  if (at !== undefined) return { at }
  if (address.startsWith(HUB)) return {}
  throw remoteFault('BOX_UNREACHABLE', { address, why: 'its name does not resolve' })
}

const hostOf = (address: string): string =>
  address.startsWith('lease:')
    ? address.replace(/^lease:\/\/\[?/, '').replace(/\]?:[0-9]{1,5}#.*$/, '')
    : parseSshAddress(address, 'anybody').host
