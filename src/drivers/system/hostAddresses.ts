import { lookup } from 'node:dns/promises'
import { BlockList, isIP } from 'node:net'
import { networkInterfaces } from 'node:os'
import { inTime } from './inTime.ts'

const LOOKUP_MS = 10_000

/** One spelling: an IPv4 address that came as IPv6 is written as IPv4, and a zone is left out. */
export const plainAddress = (address: string): string =>
  address.replace(/%.*$/, '').replace(/^::ffff:(?=[0-9.]+$)/i, '')

/** Every numeric address of a host, or none where its name does not resolve in time. */
export async function addressesOf(host: string): Promise<readonly string[]> {
  const found = await inTime(lookup(host, { all: true }), LOOKUP_MS, () => []).catch(() => [])
  return [...new Set(found.map(({ address }) => plainAddress(address)))]
}

/** Networks as `10.0.0.0/8`. A bad one throws. */
export function networkList(networks: readonly string[]): BlockList {
  const list = new BlockList()
  for (const network of networks) {
    const [address = '', bits = ''] = network.split('/')
    if (!/^[0-9]{1,3}$/.test(bits)) throw new RangeError(`${network} is not a network`)
    list.addSubnet(address, Number(bits), familyOf(address))
  }
  return list
}

export const isIn = (list: BlockList, address: string): boolean => list.check(address, familyOf(address))

const familyOf = (address: string): 'ipv4' | 'ipv6' => (isIP(address) === 6 ? 'ipv6' : 'ipv4')

/** Where this machine answers itself. */
const LOOPBACK = networkList(['127.0.0.0/8', '::1/128', '0.0.0.0/8', '::/128'])

export const isLoopback = (address: string): boolean => isIn(LOOPBACK, address)

/** Nobody's box: this link alone, where clouds tell a machine its secrets, and many at once. */
const NO_BOX = networkList(['169.254.0.0/16', 'fe80::/10', '224.0.0.0/3', 'ff00::/8', '64:ff9b::/96'])

/** Whether the address is this machine's own, or no machine's. Compared as a number: one address has many spellings. */
export function isNoBox(address: string): boolean {
  const own = new BlockList()
  for (const found of Object.values(networkInterfaces()).flatMap((all) => all ?? []))
    own.addAddress(plainAddress(found.address), familyOf(plainAddress(found.address)))
  return [LOOPBACK, NO_BOX, own].some((list) => isIn(list, address))
}
