import { fingerprintOf, type HostKeyLine, keyTypeOf, lineNamesHost } from './knownHosts.ts'

export type HostKeyJudgement =
  | { readonly kind: 'trusted'; readonly fingerprint: string; readonly by: 'pin' | 'known_hosts' }
  | { readonly kind: 'new'; readonly fingerprint: string; readonly type: string }
  | { readonly kind: 'changed'; readonly fingerprint: string; readonly expected: readonly string[] }
  | { readonly kind: 'revoked'; readonly fingerprint: string }

export interface HostKeyQuestion {
  readonly host: string
  readonly port: number
  readonly blob: Buffer
  /** `--host-key SHA256:…`: then nothing else counts. */
  readonly pin: string | null
  readonly known: readonly HostKeyLine[]
}

/**
 * Attack 14: any key but the one we know for this host is refused, also one of another type: whoever sits in between
 * could always offer a type that we have not seen yet.
 */
export function judgeHostKey({ host, port, blob, pin, known }: HostKeyQuestion): HostKeyJudgement {
  const fingerprint = fingerprintOf(blob)
  const revoked = known.some(
    (line) => line.marker === 'revoked' && line.blob.equals(blob) && lineNamesHost(line, host, port),
  )
  if (revoked) return { kind: 'revoked', fingerprint }
  if (pin !== null) {
    if (pin === fingerprint) return { kind: 'trusted', fingerprint, by: 'pin' }
    return { kind: 'changed', fingerprint, expected: [pin] }
  }
  const lines = known.filter((line) => line.marker === null && lineNamesHost(line, host, port))
  if (lines.some((line) => line.blob.equals(blob))) return { kind: 'trusted', fingerprint, by: 'known_hosts' }
  if (lines.length > 0) return { kind: 'changed', fingerprint, expected: lines.map((line) => fingerprintOf(line.blob)) }
  return { kind: 'new', fingerprint, type: keyTypeOf(blob) ?? 'unknown' }
}

/** Types we hold a key of come first, so that the server shows one that can be compared. */
export function preferredKeyTypes(known: readonly HostKeyLine[], host: string, port: number): readonly string[] {
  return known.filter((line) => line.marker === null && lineNamesHost(line, host, port)).map((line) => line.type)
}
