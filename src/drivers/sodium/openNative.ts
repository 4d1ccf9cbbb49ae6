import type { SodiumCalls } from './sodiumPoints.ts'

/** libsodium as the machine's own code. Rejects where no build of it fits the machine. */
export async function openNative(): Promise<SodiumCalls> {
  const { default: sodium } = await import('sodium-native')
  const made = (call: (out: Uint8Array) => void) => {
    const out = new Uint8Array(32)
    call(out)
    return out
  }
  return {
    isValidPoint: (point) => sodium.crypto_core_ed25519_is_valid_point(point),
    add: (a, b) => made((out) => sodium.crypto_core_ed25519_add(out, a, b)),
    subtract: (a, b) => made((out) => sodium.crypto_core_ed25519_sub(out, a, b)),
    multiply: (scalar, point) => made((out) => sodium.crypto_scalarmult_ed25519_noclamp(out, scalar, point)),
    multiplyBase: (scalar) => made((out) => sodium.crypto_scalarmult_ed25519_base_noclamp(out, scalar)),
    checkSignature: (signature, message, key) => sodium.crypto_sign_verify_detached(signature, message, key),
  }
}
