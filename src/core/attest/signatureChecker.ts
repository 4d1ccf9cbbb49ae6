/** How a vendor signs: ECDSA signatures are r || s, RSA's are as they come. */
export type SignatureScheme = 'p256-sha256' | 'p384-sha384' | 'rsa-pss-sha384'

/** Public-key cryptography of the platform: `core` names none, so that it runs in a browser too. */
export type SignatureChecker = (
  scheme: SignatureScheme,
  /** SubjectPublicKeyInfo, DER. */
  spki: Uint8Array,
  message: Uint8Array,
  signature: Uint8Array,
) => boolean | Promise<boolean>
