import type { CheckSignature } from '../core/bytes/ed25519.ts'
import type { Vrf } from '../core/chain/ecvrf.ts'

/** A library that a chain node computes its lottery and its signatures with. All of them judge alike; they differ in speed. */
export interface VrfLibrary {
  readonly name: 'sodium-native' | 'sodium-wasm' | 'noble'
  readonly vrf: Vrf
  readonly checkSignature: CheckSignature
  /** Whether an account may have this key: the only encoding of a point of order L. */
  readonly isAccountKey: (publicKey: Uint8Array) => boolean
  /** Why each faster library is not used, in plain words. */
  readonly passedOver: readonly string[]
}
