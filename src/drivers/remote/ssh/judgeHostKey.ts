import { fingerprintOf, type HostKeyLine, keyTypeOf } from './knownHosts.ts'

export type HostKeyJudgement =
  | { readonly kind: 'trusted'; readonly fingerprint: string; readonly by: 'pin' | 'known_hosts' }
  | { readonly kind: 'new'; readonly fingerprint: string; readonly type: string }
  | { readonly kind: 'changed'; readonly fingerprint: string; readonly expected: readonly string[] }
  | { readonly kind: 'revoked'; readonly fingerprint: string }

/**
 * `known`: the lines that name this host. With a pin (`--host-key SHA256:…`) nothing else counts but that a key is revoked.
 * Attack 14: any key but the one we know for this host is refused, also one of another type: whoever sits in between
 * could always offer a type that we have not seen yet.
 */
export function judgeHostKey(blob: Buffer, known: readonly HostKeyLine[], pin: string | null): HostKeyJudgement {
  const fingerprint = fingerprintOf(blob)
  if (known.some((line) => line.marker === 'revoked' && line.blob.equals(blob))) return { kind: 'revoked', fingerprint }
  if (pin === fingerprint) return { kind: 'trusted', fingerprint, by: 'pin' }
  if (pin !== null) return { kind: 'changed', fingerprint, expected: [pin] }
  const plain = known.filter(({ marker }) => marker === null)
  if (plain.some((line) => line.blob.equals(blob))) return { kind: 'trusted', fingerprint, by: 'known_hosts' }
  if (plain.length > 0) return { kind: 'changed', fingerprint, expected: plain.map((line) => fingerprintOf(line.blob)) }
  return { kind: 'new', fingerprint, type: keyTypeOf(blob) ?? 'unknown' }
}
