import { type Signer, signerFrom } from '../bytes/ed25519.ts'
import { taggedHash } from '../bytes/sha256.ts'
import { u32be } from './bigEndian.ts'
import type { Vrf, VrfKey } from './ecvrf.ts'

/** What an account makes blocks and votes with. */
export interface AccountKeys {
  readonly signer: Signer
  readonly vrfKey: VrfKey
}

/** Both keys of an account from its one secret of 32 bytes: the key of the lottery is never the one that signs. */
export const accountKeys = (
  secret: Uint8Array,
  vrf: Vrf,
  sign: (secret: Uint8Array) => Signer = signerFrom,
): AccountKeys => ({
  signer: sign(secret),
  vrfKey: vrf.keyFrom(taggedHash('ts1/vrfSecret', secret)),
})

/** The secret of an account of a devnet, by its number: anybody knows it, so it is worth nothing elsewhere. */
export const devnetSecret = (index: number): Uint8Array => taggedHash('ts1/devnet', u32be(index))
