import { isIP } from 'node:net'
import { userInfo } from 'node:os'
import { formatSshAddress, parseSshAddress } from '../../drivers/remote/ssh/sshAddress.ts'
import { routeOf } from '../../drivers/remote/ssh/sshRoute.ts'
import { badAddress, parseSshTarget, type SshTarget } from '../../drivers/remote/ssh/sshTarget.ts'
import { checkLeaseAddress } from '../boxes/openLeasedBox.ts'

/**
 * The one spelling in which a fleet keeps an address, whichever way people wrote it. Nobody's SSH settings are asked: what
 * came over the API may be anybody's word, and settings may run programs.
 */
export function fleetAddress(text: string): string {
  const target = readTarget(text)
  if (target === null) return text
  const { user, host, port = 22 } = target
  const address = `ssh://${user === undefined ? '' : `${user}@`}${plainHost(host)}:${port}`
  // An alias may be a word that no name can be.
  parseSshAddress(address, 'anybody')
  return address
}

/** A number has many spellings, and a box in two of them would be paid twice (attack 187). */
function plainHost(host: string): string {
  const url = `http://${host.includes(':') ? `[${host}]` : host}`
  if (!/^[0-9a-fx.:]+$/i.test(host) || !URL.canParse(url)) return host.toLowerCase()
  const { hostname } = new URL(url)
  const [, high, low] = /^\[::ffff:([0-9a-f]+):([0-9a-f]+)\]$/.exec(hostname) ?? []
  if (high === undefined || low === undefined) return hostname
  return new URL(`http://${Number.parseInt(high, 16) * 2 ** 16 + Number.parseInt(low, 16)}`).hostname
}

/**
 * The same for an address of validator.yaml, whose operator's SSH settings may know it by another name: host, user and port
 * come from them. A fleet goes straight to a box, with its own key.
 */
export async function ownFleetAddress(text: string, signal: AbortSignal): Promise<string> {
  const target = readTarget(text)
  if (target === null) return text
  if (text.startsWith('ssh://') || isIP(target.host) !== 0) return fleetAddress(text)
  const { to, jumps, command } = await routeOf(target, userInfo().username, signal)
  if (jumps.length > 0 || command !== null)
    throw badAddress(text, 'your SSH settings lead there through another machine, and a fleet goes straight to a box')
  return formatSshAddress(to)
}

/** What SSH is to reach; null for a box that is reached in another way. Throws for what is no address. */
export function readTarget(text: string): SshTarget | null {
  if (text === 'local') return null
  if (text.startsWith('lease:')) {
    checkLeaseAddress(text)
    return null
  }
  const target = parseSshTarget(text)
  const { identities, jump, settings } = target
  if (identities !== undefined || jump !== undefined || settings !== undefined)
    throw badAddress(text, 'a fleet logs in with its own key and settings: leave out -i, -J, -o, -F, -4 and -6')
  return target
}
