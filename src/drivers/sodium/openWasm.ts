import type { SodiumCalls } from './sodiumPoints.ts'

/** libsodium as WebAssembly: runs wherever Node does. */
export async function openWasm(): Promise<SodiumCalls> {
  const { default: sodium } = await import('libsodium-wrappers-sumo')
  await sodium.ready
  return {
    isValidPoint: (point) => sodium.crypto_core_ed25519_is_valid_point(point),
    add: (a, b) => sodium.crypto_core_ed25519_add(a, b),
    subtract: (a, b) => sodium.crypto_core_ed25519_sub(a, b),
    multiply: (scalar, point) => sodium.crypto_scalarmult_ed25519_noclamp(scalar, point),
    multiplyBase: (scalar) => sodium.crypto_scalarmult_ed25519_base_noclamp(scalar),
    checkSignature: (signature, message, key) => sodium.crypto_sign_verify_detached(signature, message, key),
  }
}
