import { constants, createPublicKey, type VerifyKeyObjectInput, verify } from 'node:crypto'
import type { SignatureChecker, SignatureScheme } from '../../core/attest/signatureChecker.ts'

const SCHEMES: Readonly<
  Record<SignatureScheme, { hash: string; curve?: string; options: Partial<VerifyKeyObjectInput> }>
> = {
  'p256-sha256': { hash: 'sha256', curve: 'prime256v1', options: { dsaEncoding: 'ieee-p1363' } },
  'p384-sha384': { hash: 'sha384', curve: 'secp384r1', options: { dsaEncoding: 'ieee-p1363' } },
  'rsa-pss-sha384': { hash: 'sha384', options: { padding: constants.RSA_PKCS1_PSS_PADDING, saltLength: 48 } },
}

/** Signatures of hardware vendors by Node's own cryptography; a key that it cannot read has signed nothing. */
export const checkVendorSignature: SignatureChecker = (scheme, spki, message, signature) => {
  const { hash, curve, options } = SCHEMES[scheme]
  try {
    const key = createPublicKey({ key: Buffer.from(spki), format: 'der', type: 'spki' })
    if (key.asymmetricKeyDetails?.namedCurve !== curve) return false
    return verify(hash, message, { key, ...options }, signature)
  } catch {
    return false
  }
}
