import { lookup, Resolver } from 'node:dns/promises'
import { readFileSync } from 'node:fs'
import { BlockList, isIP } from 'node:net'
import { networkInterfaces } from 'node:os'
import { TouchstoneError } from '../../ports/errors.ts'
import { codeOf } from './codeOf.ts'
import { inTime } from './inTime.ts'
import { noRoom } from './noRoom.ts'

const LOOKUP_MS = 10_000
const OTHER_FAMILY_MS = 2_000

/** One spelling: an IPv4 address that came as IPv6 is written as IPv4, an IPv6 one as short as it can be, without its zone. */
export function plainAddress(address: string): string {
  const plain = address.replace(/%.*$/, '').replace(/^::ffff:(?=[0-9.]+$)/i, '')
  return isIP(plain) === 6 ? new URL(`http://[${plain}]`).hostname.slice(1, -1) : plain
}

/**
 * Every numeric address of a host, or none where its name does not resolve in time. The system's own look-up has two places
 * for all of the process, and a name whose server never answers holds one of them for 10 s (attack 458): it is asked for
 * names of this network alone. `servers` are the system's where left out. Throws where this machine lacks the files to ask.
 */
export async function addressesOf(host: string, servers?: readonly string[]): Promise<readonly string[]> {
  const asked = isIP(host) > 0 ? Promise.resolve([host]) : (namedHere(host) ?? resolve(host, servers))
  const found = await inTime(asked, LOOKUP_MS, () => []).catch((error: unknown) => {
    if (error instanceof TouchstoneError) throw error
    return noneIfAsked(host)
  })
  return [...new Set(found.map(plainAddress))]
}

async function resolve(host: string, servers?: readonly string[]): Promise<readonly string[]> {
  // Without a dot it is a name of this network, wherever the system looks for those; with a number at its end, an address.
  if (!/\.(?!(?:0x[0-9a-f]*|[0-9]+)\.?$)[^.]+\.?$/i.test(host))
    return (await lookup(host, { all: true })).map(({ address }) => address)
  const resolver = new Resolver({ timeout: LOOKUP_MS / 2, tries: 2 })
  if (servers) resolver.setServers(servers)
  // Whatever else went wrong, a server was asked: its silence, and a zone that is broken, are the name's own.
  const none = (error: unknown) => (codeOf(error) === NOT_ASKED ? noneIfAsked(host) : [])
  const [v4, v6] = [resolver.resolve4(host), resolver.resolve6(host)].map((asked) => asked.catch(none))
  for (const asked of [v4!, v6!]) asked.catch(() => {})
  const first = await Promise.race([v4!, v6!])
  // A server that answers for one family may leave the other open for ever.
  const wait = (asked: Promise<string[]>) => inTime(asked, first.length > 0 ? OTHER_FAMILY_MS : LOOKUP_MS, () => [])
  return (await Promise.all([wait(v4!), wait(v6!)])).flat()
}

/** What a look-up says where no server was reached: none is there, or this machine had no file left. */
const NOT_ASKED = 'ECONNREFUSED'

/** No address, where the look-up could open what it needs: files that are lacking are ours, and told in many ways (attack 481). */
function noneIfAsked(host: string): string[] {
  hostsFile(host)
  return []
}

/** As /etc/hosts has it; null where it has nothing. */
function namedHere(host: string): Promise<readonly string[]> | null {
  const rows = hostsFile(host).map((line) => line.replace(/#.*/, '').trim().split(/\s+/))
  const found = rows.flatMap(([address, ...names]) =>
    names.some((name) => name.toLowerCase() === host.toLowerCase()) && address ? [address] : [],
  )
  return found.length === 0 ? null : Promise.resolve(found)
}

function hostsFile(host: string): readonly string[] {
  try {
    return readFileSync('/etc/hosts', 'utf8').split('\n')
  } catch (error) {
    const ours = noRoom(host, error)
    if (ours) throw ours
    return []
  }
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

/** Nobody's machine: this link alone, where clouds tell a machine its secrets, those of protocols, and many at once. */
const NOBODY = [
  ...['0.0.0.0/8', '127.0.0.0/8', '169.254.0.0/16', '192.0.0.0/24', '224.0.0.0/3', 'fe80::/10', 'ff00::/8'],
  // Those that hold an IPv4 address, which a gateway may reach: it can be any of these (attacks 150, 157).
  ...['::/96', '64:ff9b::/96', '64:ff9b:1::/48', '2002::/16'],
]

/** Networks of an owner, and of his cloud. A box of a fleet may stand there, whoever is sent there by a stranger may not. */
const OWNED = [
  '10.0.0.0/8',
  '100.64.0.0/10',
  '172.16.0.0/12',
  '192.168.0.0/16',
  '198.18.0.0/15',
  'fc00::/7',
  'fec0::/10',
]

const NO_BOX = networkList(NOBODY)
const NOT_PUBLIC = networkList([...NOBODY, ...OWNED])

export const isPublic = (address: string): boolean => !isIn(NOT_PUBLIC, address)

/** Whether the address is this machine's own, or no machine's. Compared as a number: one address has many spellings. */
export function isNoBox(address: string): boolean {
  const own = new BlockList()
  for (const found of Object.values(networkInterfaces()).flatMap((all) => all ?? []))
    own.addAddress(plainAddress(found.address), familyOf(plainAddress(found.address)))
  return [LOOPBACK, NO_BOX, own].some((list) => isIn(list, address))
}
