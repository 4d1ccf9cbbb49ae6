import type { ServerHostKeyAlgorithm } from 'ssh2'
import { type HostKeyJudgement, type HostKeyLine, judgeHostKey, knownHostsLine, rememberHostKey } from './knownHosts.ts'
import { formatSshAddress, type SshAddress } from './sshAddress.ts'

export interface HostTrustOptions {
  /** `SHA256:…`; then the files below are not asked, except for revoked keys. */
  readonly hostKey?: string
  /** The name under which files have its key, as `HostKeyAlias` of ssh: whatever its address and port are (attack 251). */
  readonly knownAs?: string | null
  /** Our own file: read, and first keys are added to it. */
  readonly ownKnownHostsFile: string
  /** Written behind keys that are added. */
  readonly note?: string
  /** Shows a fingerprint never seen before; false refuses it. */
  readonly onFirstUse: (seen: { readonly address: string; readonly fingerprint: string }) => boolean | Promise<boolean>
}

const HOST_KEY_TYPES: readonly ServerHostKeyAlgorithm[] = [
  'ssh-ed25519',
  'ecdsa-sha2-nistp256',
  'ecdsa-sha2-nistp384',
  'ecdsa-sha2-nistp521',
  'rsa-sha2-512',
  'rsa-sha2-256',
]

/** What became of the key that a server showed. */
export type Trust = { judgement: HostKeyJudgement | null; accepted: boolean; blob: Buffer | null }

/** The families a server may have a key of, in the order we like them. */
export const FAMILIES = ['ssh-ed25519', 'ecdsa-', 'rsa-'].map((start) =>
  HOST_KEY_TYPES.filter((type) => type.startsWith(start)),
)

/** Types we hold a key of come first, so that the server shows one that can be compared. */
export function keyTypesFor(known: readonly HostKeyLine[]): readonly ServerHostKeyAlgorithm[] {
  const types = known.filter(({ marker }) => marker === null).map(({ type }) => type)
  const familiar = HOST_KEY_TYPES.filter((type) => types.includes(type.startsWith('rsa-') ? 'ssh-rsa' : type))
  return [...familiar, ...HOST_KEY_TYPES.filter((type) => !familiar.includes(type))]
}

/** OpenSSL takes 9 ms for a signature whose exponent has the size of its key; ssh-keygen makes none above 65,537 (attack 439). */
const MOST_RSA_BITS = { exponent: 32, modulus: 8192 }

/** Whether to check a signature of this key takes the time of others. */
export function isCostly(blob: Buffer): boolean {
  const [type, exponent, modulus] = stringsOf(blob, 3)
  if (type?.toString('latin1') !== 'ssh-rsa' || exponent === undefined || modulus === undefined) return false
  return bitsOf(exponent) > MOST_RSA_BITS.exponent || bitsOf(modulus) > MOST_RSA_BITS.modulus
}

/** Up to so many strings from the beginning, as SSH writes them: fewer where there are none. */
function stringsOf(blob: Buffer, most: number): readonly Buffer[] {
  const found: Buffer[] = []
  for (let at = 0; found.length < most && at + 4 <= blob.length; ) {
    const end = at + 4 + blob.readUInt32BE(at)
    if (end > blob.length) break
    found.push(blob.subarray(at + 4, end))
    at = end
  }
  return found
}

function bitsOf(number: Buffer): number {
  const first = number.findIndex((byte) => byte !== 0)
  return first < 0 ? 0 : 8 * (number.length - first) - (Math.clz32(number[first]!) - 24)
}

/** Judges the key of the first exchange, asks about one never seen before, and takes no other in the same session. */
export async function isTrusted(
  to: SshAddress,
  blob: Buffer,
  known: readonly HostKeyLine[],
  options: HostTrustOptions,
  trust: Trust,
): Promise<boolean> {
  // A key exchange may come again in mid-run: only the key of the first one will do.
  if (trust.blob !== null) return trust.accepted && trust.blob.equals(blob)
  trust.blob = Buffer.from(blob)
  const judgement = judgeHostKey(blob, known, options.hostKey ?? null)
  trust.judgement = judgement
  trust.accepted =
    judgement.kind === 'trusted' ||
    (judgement.kind === 'new' &&
      (await options.onFirstUse({ address: formatSshAddress(to), fingerprint: judgement.fingerprint })))
  return trust.accepted
}

/** Where files have its key; a bare name is one on the usual port. */
export const knownPlace = (to: SshAddress, { knownAs }: HostTrustOptions): Pick<SshAddress, 'host' | 'port'> =>
  knownAs ? { host: knownAs, port: 22 } : to

/** Only after the whole login: a key that somebody showed and then failed to use is not remembered. */
export function rememberFirstKey(to: SshAddress, options: HostTrustOptions, trust: Trust): void {
  if (trust.judgement?.kind !== 'new' || trust.blob === null) return
  const { host, port } = knownPlace(to, options)
  rememberHostKey(options.ownKnownHostsFile, knownHostsLine(host, port, trust.judgement.type, trust.blob, options.note))
}
