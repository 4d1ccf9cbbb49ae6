import type { TouchstoneError } from '../../../ports/errors.ts'
import { noRoom } from '../../system/noRoom.ts'
import { fault, itSaid } from '../faults.ts'
import type { HostTrustOptions, Trust } from './hostTrust.ts'
import type { AuthPlan } from './sshAuth.ts'

const NETWORK: Readonly<Record<string, string>> = {
  ENOTFOUND: 'no host has that name',
  EAI_AGAIN: 'its name cannot be looked up now',
  ECONNREFUSED: 'nothing listens on that port',
  ECONNRESET: 'the connection was cut',
  EHOSTUNREACH: 'there is no way to that host',
  ENETUNREACH: 'there is no way to that network',
  ETIMEDOUT: 'nothing answers there',
}

const inWords = (code: string): string => (NETWORK[code] === undefined ? code : `${NETWORK[code]} (${code})`)

export type SshError = Error & { readonly level?: string; readonly code?: string | number }

export const unreachable = (address: string, why: string, said: string, cause?: unknown): TouchstoneError =>
  fault('BOX_UNREACHABLE', { address, why: `${why}${itSaid(said)}` }, cause)

/** Why there is no login, and whose fault that is. */
export function connectFault(
  address: string,
  options: HostTrustOptions,
  plan: AuthPlan | null,
  trust: Trust,
  said: string,
  error: SshError,
): TouchstoneError {
  const judgement = trust.judgement
  if (judgement !== null && !trust.accepted) {
    const { fingerprint: got } = judgement
    if (judgement.kind === 'revoked') return fault('HOST_KEY_REVOKED', { address, got })
    if (judgement.kind !== 'changed') return fault('HOST_KEY_UNKNOWN', { address, got })
    const isPinned = options.hostKey !== undefined
    // Named by whoever typed it, by a lease, or by a provider of its own box.
    const where = isPinned ? 'as named' : options.ownKnownHostsFile
    const unless = isPinned ? '' : `remove the old entry from ${where} or `
    return fault('HOST_KEY_CHANGED', { address, got, expected: judgement.expected.join(' or '), where, unless })
  }
  if (error.level === 'client-authentication' || error.level === 'agent') {
    const tried = plan?.names.join(', ') ?? ''
    const means = `${tried || 'nothing, for want of a key or password'}${itSaid(said)}`
    return fault('SSH_AUTH_FAILED', { address, tried, means }, error)
  }
  if (error.level === 'handshake' && error.message.includes('host key format'))
    return fault('SSH_NO_COMMON_KEY', { address }, error)
  const ours = noRoom(address, error)
  if (ours) return ours
  const why = typeof error.code === 'string' ? inWords(error.code) : 'it does not speak SSH as we do'
  return unreachable(address, typeof error.code === 'number' ? 'it hung up' : why, said, error)
}
