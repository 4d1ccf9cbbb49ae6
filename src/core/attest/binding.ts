import { concatBytes } from '../bytes/bytes.ts'
import { sha256, taggedHash } from '../bytes/sha256.ts'

/** §9: what is asked of the devices before the first seed is out. */
export const openNonce = (x: Uint8Array): Uint8Array => taggedHash('tsp1/attest-open', x)

/** §9: what is asked after the last part; it holds everything that happened in between. */
export const closeNonce = (
  x: Uint8Array,
  queries: readonly Uint8Array[],
  openSigned: readonly Uint8Array[],
): Uint8Array => taggedHash('tsp1/attest-close', x, ...queries, sha256(concatBytes(...openSigned)))

/** §9: what the machine around the cards has its processor sign: the nonce, the prover's key, and what the cards signed. */
export const cpuReportData = (nonce: Uint8Array, proverKey: Uint8Array, signed: readonly Uint8Array[]): Uint8Array =>
  concatBytes(nonce, taggedHash('tsp1/attest-cpu', proverKey, sha256(concatBytes(...signed))))
