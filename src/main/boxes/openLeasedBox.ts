import { join } from 'node:path'
import type { Signer } from '../../core/bytes/ed25519.ts'
import { MAX_VERIFY_SECONDS } from '../../core/lease/leaseBook.ts'
import { proverFlavours } from '../../drivers/remote/carryNode.ts'
import { askLiveness } from '../../drivers/remote/leased/askLiveness.ts'
import type { ProviderLine } from '../../drivers/remote/leased/askProvider.ts'
import { connectLeased, type LeasedOptions } from '../../drivers/remote/leased/connectLeased.ts'
import type { LeaseHub } from '../../drivers/remote/leased/leaseHub.ts'
import { withinTime } from '../../drivers/system/withinTime.ts'
import { dialWs, MESSAGES, reachedAt, wsChannel } from '../../drivers/system/wsChannel.ts'
import { cacheFolder, dataFolder } from '../../drivers/system/xdgFolders.ts'
import type { RemoteBox } from '../../ports/remoteBox.ts'
import { fault } from '../faults.ts'
import { system } from '../system.ts'
import type { BoxTarget } from './openSshBox.ts'

/** Its address is `lease://host:port#key`, the key being the provider's; `lease://hub#key` where it dials in to us. */
export interface LeaseTarget extends BoxTarget {
  readonly signer: Signer
  /** Networks where a lease may lead besides the provider's own address. */
  readonly networks?: readonly string[] | undefined
  /** Where providers behind NAT dial in, if this validator has such a place. */
  readonly hub?: LeaseHub
}

const FORM = /^lease:\/\/((?:[A-Za-z0-9.-]+|\[[0-9a-fA-F:]+\]):[0-9]{1,5})#([0-9a-f]{64})$/
const HUB_FORM = /^lease:\/\/hub#([0-9a-f]{64})$/
/** A provider dials again at least once a minute (dialOut.ts). */
const DIAL_IN_MS = 65_000
const TUNNEL_MS = 30_000

/** Refuses what is not the address of a provider. */
export function checkLeaseAddress(address: string): void {
  const match = FORM.exec(address)
  if (HUB_FORM.test(address) || (match !== null && URL.canParse(`ws://${match[1]}`))) return
  throw fault('BAD_ADDRESS', { text: JSON.stringify(address.slice(0, 200)) })
}

/** A provider's box: asks it for a lease, and logs in with a key made for that lease alone. */
export async function openLeasedBox(target: LeaseTarget, signal: AbortSignal): Promise<RemoteBox> {
  const dialledIn = HUB_FORM.exec(target.address)
  if (dialledIn !== null) return openThroughHub(dialledIn[1]!, target, signal)
  const options = await optionsOf(target)
  const line = await dialProvider(target.address, target.at, signal)
  return await connectLeased(line, { ...options, whenOver: () => line.channel.close() }, signal)
}

/** Asks a provider that can be dialled for a sign of life: a fresh number signed by its key, and what it is doing. */
export async function askProviderAlive(address: string, signer: Signer, signal: AbortSignal) {
  const line = await dialProvider(address, undefined, signal)
  try {
    return await askLiveness(line, { ...system, signer }, signal)
  } finally {
    line.channel.close()
  }
}

/** The line to a provider that can be dialled. */
export async function dialProvider(
  address: string,
  at: string | undefined,
  signal: AbortSignal,
): Promise<ProviderLine> {
  checkLeaseAddress(address)
  if (HUB_FORM.test(address)) throw fault('NO_LEASE_HUB')
  const [, place, key] = FORM.exec(address)!
  const socket = await dialWs(urlOf(place!, at), MESSAGES, signal)
  return { channel: wsChannel(socket), key: key!, reached: reachedAt(socket) }
}

/** By name, or at the address that the name was found to have. */
function urlOf(hostAndPort: string, at: string | undefined): string {
  const port = hostAndPort.slice(hostAndPort.lastIndexOf(':') + 1)
  if (at === undefined) return `ws://${hostAndPort}`
  return `ws://${at.includes(':') ? `[${at}]` : at}:${port}`
}

/** The channel stays open afterwards: it is the provider's, and serves the next lease too. */
async function openThroughHub(key: string, target: LeaseTarget, signal: AbortSignal): Promise<RemoteBox> {
  const { hub } = target
  if (hub === undefined) throw fault('NO_LEASE_HUB')
  const line = await inLimit(DIAL_IN_MS, signal, (inner) => hub.line(key, inner), 'PROVIDER_NOT_DIALLED_IN')
  const tunnel = (token: string, outer: AbortSignal) =>
    inLimit(TUNNEL_MS, outer, (inner) => hub.tunnel(token, inner), 'TUNNEL_MISSING')
  return await connectLeased(line, { ...(await optionsOf(target)), tunnel }, signal)
}

/** What the provider has not done in time is a fault of its own; our caller's end stays our caller's. */
async function inLimit<T>(
  limitMs: number,
  caller: AbortSignal,
  wait: (signal: AbortSignal) => Promise<T>,
  code: 'PROVIDER_NOT_DIALLED_IN' | 'TUNNEL_MISSING',
): Promise<T> {
  try {
    return await withinTime(limitMs, caller, wait)
  } catch (error) {
    caller.throwIfAborted()
    throw fault(code, { seconds: limitMs / 1000 }, error)
  }
}

async function optionsOf(target: LeaseTarget): Promise<LeasedOptions> {
  return {
    purpose: 'verify',
    // The longest there is: others of its cohort may keep it waiting, and it is given back as soon as it is done.
    seconds: MAX_VERIFY_SECONDS,
    signer: target.signer,
    ...system,
    ...(target.networks === undefined ? {} : { networks: target.networks }),
    ssh: {
      knownHostsFiles: [],
      ownKnownHostsFile: join(dataFolder(target.env), 'known_hosts'),
      onFirstUse: () => false,
      flavours: await proverFlavours(join(cacheFolder(target.env), 'provers')),
      keep: false,
      proverArguments: target.proverArguments,
    },
  }
}
