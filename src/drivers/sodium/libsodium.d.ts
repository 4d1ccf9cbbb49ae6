// What we use of the two builds of libsodium: the slices keep the drivers to it, and one of them comes without types.

/** Results go into the first argument; a refusal throws. */
declare module 'sodium-native' {
  const sodium: {
    crypto_core_ed25519_is_valid_point(point: Uint8Array): boolean
    crypto_core_ed25519_add(out: Uint8Array, a: Uint8Array, b: Uint8Array): void
    crypto_core_ed25519_sub(out: Uint8Array, a: Uint8Array, b: Uint8Array): void
    crypto_scalarmult_ed25519_noclamp(out: Uint8Array, scalar: Uint8Array, point: Uint8Array): void
    crypto_scalarmult_ed25519_base_noclamp(out: Uint8Array, scalar: Uint8Array): void
    crypto_sign_verify_detached(signature: Uint8Array, message: Uint8Array, publicKey: Uint8Array): boolean
  }
  // biome-ignore lint/style/noDefaultExport: that is how the package exports itself
  export default sodium
}

/** Results are returned; a refusal throws. */
declare module 'libsodium-wrappers-sumo' {
  const sodium: {
    readonly ready: Promise<void>
    crypto_core_ed25519_is_valid_point(point: Uint8Array): boolean
    crypto_core_ed25519_add(a: Uint8Array, b: Uint8Array): Uint8Array
    crypto_core_ed25519_sub(a: Uint8Array, b: Uint8Array): Uint8Array
    crypto_scalarmult_ed25519_noclamp(scalar: Uint8Array, point: Uint8Array): Uint8Array
    crypto_scalarmult_ed25519_base_noclamp(scalar: Uint8Array): Uint8Array
    crypto_sign_verify_detached(signature: Uint8Array, message: Uint8Array, publicKey: Uint8Array): boolean
  }
  // biome-ignore lint/style/noDefaultExport: that is how the package exports itself
  export default sodium
}
