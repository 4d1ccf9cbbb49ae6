import { concatBytes, equalBytes } from '../../core/bytes/bytes.ts'
import type { CheckSignature, Signer } from '../../core/bytes/ed25519.ts'
import { toHex } from '../../core/bytes/hex.ts'
import { taggedHash } from '../../core/bytes/sha256.ts'
import { BETA_BYTES, PROOF_BYTES, type Vrf, type VrfKey } from '../../core/chain/ecvrf.ts'

/** Cryptography of a run, with the keys it makes. */
export interface SimulatedCrypto {
  /** What the reader is told. */
  readonly name: string
  readonly vrf: Vrf
  readonly checkSignature: CheckSignature
  signerFrom(secret: Uint8Array): Signer
}

/**
 * Keyed hashes in the place of signatures and of the verifiable random function: as unpredictable to who lacks the key, a
 * hundred times faster, and worth nothing outside this process, since whoever checks them must look up the secret.
 */
export function standInCrypto(): SimulatedCrypto {
  const secrets = new Map<string, Uint8Array>()
  let last: { alpha: Uint8Array; digest: Uint8Array } = { alpha: new Uint8Array(), digest: new Uint8Array() }
  const publicKeyOf = (secret: Uint8Array): Uint8Array => {
    const publicKey = taggedHash('stand-in/key', secret)
    secrets.set(toHex(publicKey), secret)
    return publicKey
  }
  // All that is made of beta hashes it first, so that key and input side by side are a keyed hash by then.
  const evaluate = (secret: Uint8Array, alpha: Uint8Array): Uint8Array => {
    if (last.alpha !== alpha) last = { alpha, digest: taggedHash('stand-in/vrf', alpha) }
    const beta = new Uint8Array(BETA_BYTES)
    beta.set(secret)
    beta.set(last.digest, secret.length)
    return beta
  }
  const proofOf = (beta: Uint8Array): Uint8Array => concatBytes(beta, new Uint8Array(PROOF_BYTES - beta.length))
  const signatureOf = (secret: Uint8Array, message: Uint8Array): Uint8Array => {
    const half = taggedHash('stand-in/sign', secret, message)
    return concatBytes(half, half)
  }
  return {
    name: 'stand-ins: keyed hashes, not real signatures and VRF proofs',
    signerFrom: (secret) => ({ publicKey: publicKeyOf(secret), sign: (message) => signatureOf(secret, message) }),
    checkSignature: (signature, message, publicKey) => {
      const secret = secrets.get(toHex(publicKey))
      return secret !== undefined && equalBytes(signature, signatureOf(secret, message))
    },
    vrf: {
      keyFrom: (secret): VrfKey => ({
        publicKey: publicKeyOf(secret),
        evaluate: (alpha) => evaluate(secret, alpha),
        prove: (alpha) => proofOf(evaluate(secret, alpha)),
      }),
      verify(publicKey, alpha, proof) {
        const secret = secrets.get(toHex(publicKey))
        if (secret === undefined) return null
        const beta = evaluate(secret, alpha)
        return equalBytes(proof, proofOf(beta)) ? beta : null
      },
    },
  }
}
