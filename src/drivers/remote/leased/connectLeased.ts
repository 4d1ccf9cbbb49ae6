import type { Duplex } from 'node:stream'
import { faultWords } from '../../../core/bytes/boxWords.ts'
import { decodeJson } from '../../../core/bytes/decodeJson.ts'
import type { Signer } from '../../../core/bytes/ed25519.ts'
import { toHex } from '../../../core/bytes/hex.ts'
import type { LeasePurpose } from '../../../core/lease/leaseBook.ts'
import {
  type AccessDetails,
  accessDetailsSchema,
  type LeaseAnswerMessage,
  MAX_CLOCK_SKEW_MS,
} from '../../../core/lease/leaseMessages.ts'
import type { Clock } from '../../../ports/clock.ts'
import type { TouchstoneError } from '../../../ports/errors.ts'
import { portFault } from '../../../ports/faults.ts'
import type { Randomness } from '../../../ports/randomness.ts'
import type { RemoteBox } from '../../../ports/remoteBox.ts'
import { addressesOf, isIn, networkList } from '../../system/hostAddresses.ts'
import { inTime } from '../../system/inTime.ts'
import { openSealed } from '../../system/sealToKey.ts'
import { ASK_ITS_LOG, fault } from '../faults.ts'
import { connectSsh, type SshBoxOptions } from '../ssh/connectSsh.ts'
import { formatSshAddress } from '../ssh/sshAddress.ts'
import { askProvider, type ProviderLine } from './askProvider.ts'
import { openSshKey } from './openSshKey.ts'

export interface LeasedOptions {
  readonly purpose: LeasePurpose
  readonly seconds: number
  readonly signer: Signer
  readonly clock: Clock
  readonly randomness: Randomness
  readonly ssh: Omit<SshBoxOptions, 'auth' | 'hostKey' | 'dial'>
  /** Networks, as 10.0.0.0/8, where a lease may lead besides the provider's own address. */
  readonly networks?: readonly string[]
  /** Where a provider behind NAT has dialled in: its tunnel by token. */
  readonly tunnel?: (token: string, signal: AbortSignal) => Promise<Duplex>
  /** Called when the lease is over, or was not to be had. */
  readonly whenOver?: () => void
}

const RELEASE_MS = 10_000

/** What a lease is asked with: everything but the way to a prover. */
export type LeaseWish = Omit<LeasedOptions, 'ssh' | 'whenOver' | 'randomness'>

/** Asks for a lease with a key of its own, logs in with it, and gives the lease back on close. */
export async function connectLeased(
  line: ProviderLine,
  options: LeasedOptions,
  signal: AbortSignal,
): Promise<RemoteBox> {
  const key = openSshKey(options.randomness.bytes(32))
  const id = toHex(options.randomness.bytes(16))
  const release = async (): Promise<void> => {
    // A provider that is gone closes the lease by itself, on its time.
    await giveBack(line, id, options).catch(() => {})
    options.whenOver?.()
  }
  try {
    const { details, way } = await askForLease(line, options, { id, key }, signal)
    const login = { auth: { privateKey: key.privateKey }, hostKey: details.hostKey }
    const box = await connectSsh(
      formatSshAddress(details),
      { ...options.ssh, ...login, ...way, ledBy: 'the lease' },
      signal,
    )
    return leasedBox(box, details, release)
  } catch (error) {
    await release()
    throw error
  }
}

/** Asks for a lease that opens for this key, and finds where it leads. */
export async function askForLease(
  line: ProviderLine,
  wish: LeaseWish,
  { id, key }: { readonly id: string; readonly key: ReturnType<typeof openSshKey> },
  signal: AbortSignal,
) {
  const { signer, clock, purpose, seconds, tunnel } = wish
  const askedAtMs = clock.wallTime().getTime()
  const request = { kind: 'request', to: line.key, id, purpose, seconds, sshKey: key.publicLine, askedAtMs } as const
  const answer = await askProvider(line, request, signer, signal)
  const { details, untilMs } = readGrant(answer, key.seed, wish)
  if (Math.abs(untilMs - askedAtMs - 1000 * seconds) > MAX_CLOCK_SKEW_MS) throw ofAnotherLength(untilMs, seconds)
  const way =
    details.tunnel === '' || tunnel === undefined
      ? { at: await inTime(whereItLeads(details, line, wish), LOOK_UP_MS, lookUpFailed, signal) }
      : { dial: (dialling: AbortSignal) => tunnel(details.tunnel, dialling) }
  return { details, way, untilMs }
}

/** Ends a lease before its time; a lease that is over already is over. */
export function giveBack(
  line: ProviderLine,
  id: string,
  { signer, clock }: Pick<LeaseWish, 'signer' | 'clock'>,
): Promise<LeaseAnswerMessage> {
  const message = { kind: 'release', to: line.key, id, askedAtMs: clock.wallTime().getTime() } as const
  return askProvider(line, message, signer, AbortSignal.timeout(RELEASE_MS), RELEASE_MS)
}

const LOOK_UP_MS = 15_000

const lookUpFailed = (): never => {
  throw elsewhere('the name of its SSH server was not found in time')
}

/** Clocks may differ by as much as a question may be old; whatever else it says is not what was asked for. */
const ofAnotherLength = (untilMs: number, seconds: number): TouchstoneError =>
  fault('PROVIDER_NONSENSE', {
    what: `the provider lets the lease end at ${new Date(untilMs).toISOString()}, where ${seconds} s were asked for`,
  })

function readGrant(answer: LeaseAnswerMessage, seed: Uint8Array, asked: LeaseWish) {
  if (answer.kind === 'busy') throw busy(answer.purpose, answer.untilMs)
  if (answer.kind === 'refused') throw refusedBy(answer, asked)
  if (answer.kind !== 'granted') throw fault('PROVIDER_NONSENSE', { what: 'the provider answered out of turn' })
  const plain = openSealed(seed, Buffer.from(answer.sealed, 'base64'))
  try {
    const details = decodeJson(plain, accessDetailsSchema, 'connection details')
    return { details, untilMs: answer.expiresAtMs }
  } catch {
    throw fault('PROVIDER_NONSENSE', { what: 'the connection details of the provider cannot be read' })
  }
}

/**
 * Its code is the provider's word: as our own it could pass for a fault of ours, which costs a box nothing (attack 63).
 * Whoever is not let in must tell the provider a key of which no command has spoken yet.
 */
function refusedBy({ code, why }: Extract<LeaseAnswerMessage, { kind: 'refused' }>, { purpose, signer }: LeaseWish) {
  const key = toHex(signer.publicKey)
  const mend =
    code === 'NOT_ALLOWED'
      ? `Ask its owner to let your key in: touchstone provider allow ${key}${purpose === 'rent' ? '' : ' --to verify'}`
      : ASK_ITS_LOG
  return fault('LEASE_REFUSED', { said: code, words: faultWords({ code, text: why }), mend })
}

/** 22, or one that no service of the system has. */
const isSshPort = (port: number): boolean => port === 22 || port >= 1024

/**
 * A provider says where its SSH server is, and might name anything that this machine can reach: its own services, a cloud's
 * metadata, somebody else's port. So the server is where the provider itself was reached, or in a network that was allowed.
 */
async function whereItLeads({ host, port }: AccessDetails, line: ProviderLine, options: LeaseWish): Promise<string> {
  if (line.reached === undefined || options.tunnel !== undefined) throw elsewhere('it dialled in and named no tunnel')
  if (!isSshPort(port)) throw elsewhere(`port ${port} is neither 22 nor 1024 or above`)
  const allowed = networkList(options.networks ?? [])
  const found = await addressesOf(host)
  const at = found.find((address) => address === line.reached) ?? found.find((address) => isIn(allowed, address))
  if (at === undefined) throw elsewhere('its SSH server is not at the address where the provider was reached')
  return at
}

const elsewhere = (why: string): TouchstoneError => fault('LEASE_LEADS_ELSEWHERE', { why })

function leasedBox(box: RemoteBox, details: AccessDetails, release: () => Promise<void>): RemoteBox {
  return {
    address: box.address,
    get access() {
      return { ...box.access, confinement: details.confinement, way: details.tunnel === '' ? 'ssh' : 'ssh in a tunnel' }
    },
    install: (signal) => box.install(signal),
    start: (signal) => box.start(signal),
    close: () => box.close().finally(release),
  }
}

/** Its own state, neither a failure nor a proof (attack 18): ask for a sign of life instead. */
const busy = (purpose: LeasePurpose, untilMs: number): TouchstoneError =>
  portFault('BOX_BUSY', {
    purpose,
    untilMs,
    taken: purpose === 'rent' ? 'leased to a buyer' : 'being verified by somebody else',
  })
