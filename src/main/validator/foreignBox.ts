import { parseSshAddress } from '../../drivers/remote/ssh/sshAddress.ts'
import { unreachable } from '../../drivers/remote/ssh/sshFaults.ts'
import { addressesOf, isNoBox } from '../../drivers/system/hostAddresses.ts'
import { TouchstoneError } from '../../ports/errors.ts'
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
  if (address === 'local' || found.some(isNoBox)) throw ownMachine()
  return found
}

/** What to dial: of a box that is not ours to look at, the very address that was judged, and not its name once more. */
export async function foreignAddress(address: string): Promise<{ readonly at?: string }> {
  const [at] = await ensureForeign(address)
  if (at !== undefined) return { at }
  if (address.startsWith(HUB)) return {}
  throw unreachable(address, 'its name leads nowhere')
}

const hostOf = (address: string): string =>
  address.startsWith('lease:')
    ? address.replace(/^lease:\/\/\[?/, '').replace(/\]?:[0-9]{1,5}#.*$/, '')
    : parseSshAddress(address, 'anybody').host

const ownMachine = (): TouchstoneError =>
  new TouchstoneError(
    { code: 'OWN_MACHINE' },
    {
      message: 'the address is that of the validator itself, or of no machine',
      blame: 'prover',
      retry: false,
      nextStep: 'Its operator can name the box in validator.yaml, or set api.ownMachine there.',
    },
  )
