import type { CheckSignature } from '../core/bytes/ed25519.ts'
import type { Vrf } from '../core/chain/ecvrf.ts'

/** A library that a chain node computes its lottery and its signatures with. All of them judge alike; they differ in speed. */
export interface VrfLibrary {
  readonly name: 'sodium-native' | 'sodium-wasm' | 'noble'
  readonly vrf: Vrf
  readonly checkSignature: CheckSignature
  /** Why each faster library is not used, in plain words. */
  readonly passedOver: readonly string[]
}
