import { Buffer } from 'node:buffer'
import { createHash, X509Certificate } from 'node:crypto'
import { algorithmOf, type CertificateWishes, type Holder, issue, signDer } from './testAuthority.ts'
import { bits, context, der, generalTime, integer, octets, oid, sequence } from './writeDer.ts'

export interface OcspWishes {
  readonly thisUpdateMs: number
  readonly nextUpdateMs?: number
  readonly status?: 'good' | 'unknown' | { readonly reason: number }
  readonly hash?: 'sha1' | 'sha384'
  readonly responder?: Partial<CertificateWishes>
  /** Who appoints the responder, when it is not the issuer. */
  readonly appointedBy?: Holder
}

const HASH_OIDS = { sha1: '1.3.14.3.2.26', sha384: '2.16.840.1.101.3.4.2.2' } as const

/** An answer about a certificate, as the responder of its issuer signs it. */
export function answerFor(subject: Holder, issuer: Holder, wishes: OcspWishes): Buffer {
  const { thisUpdateMs, status = 'good', hash = 'sha384' } = wishes
  const purposes = ['1.3.6.1.5.5.7.3.9']
  const responder = issue({ name: 'Test OCSP', purposes, ...wishes.responder }, wishes.appointedBy ?? issuer)
  const digest = (bytes: Uint8Array) => octets(createHash(hash).update(bytes).digest())
  // The key itself is the last 97 bytes of what describes it.
  const key = issuer.spki.subarray(-97)
  const serial = Buffer.from(new X509Certificate(subject.certificate).serialNumber, 'hex')
  const revoked = (reason: number) => context(1, generalTime(thisUpdateMs), context(0, der(0x0a, Buffer.of(reason))))
  const said = status === 'good' ? der(0x80) : status === 'unknown' ? der(0x82) : revoked(status.reason)
  const data = sequence(
    context(2, octets(createHash('sha1').update(responder.spki).digest())),
    generalTime(thisUpdateMs),
    sequence(
      sequence(
        sequence(sequence(oid(HASH_OIDS[hash]), der(0x05)), digest(issuer.name), digest(key), integer(serial)),
        said,
        generalTime(thisUpdateMs),
        context(0, generalTime(wishes.nextUpdateMs ?? thisUpdateMs + 24 * 3_600_000)),
      ),
    ),
  )
  const basic = sequence(
    data,
    algorithmOf(responder.key),
    bits(signDer(responder.key, data)),
    context(0, sequence(responder.certificate)),
  )
  return sequence(der(0x0a, Buffer.of(0)), context(0, sequence(oid('1.3.6.1.5.5.7.48.1.1'), octets(basic))))
}

/** Answers for a chain from `first` up to the certificate below its root. */
export const answersFor = (chain: readonly Holder[], first: number, wishes: OcspWishes): Buffer[] =>
  chain.slice(first, -1).map((holder, i) => answerFor(holder, chain[first + i + 1]!, wishes))
