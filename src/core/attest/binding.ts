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

/** W11: what is asked of the device that is to do a work, before the seed is out: nobody is to work for nothing. */
export const workOpenNonce = (orderId: Uint8Array, proverKey: Uint8Array): Uint8Array =>
  taggedHash('tsw1/attest-open', orderId, proverKey)

/** W11: what is asked once the last h is out; it holds the work, whoever did it, and every state. */
export const workNonce = (workId: Uint8Array, proverKey: Uint8Array, lastLink: Uint8Array): Uint8Array =>
  taggedHash('tsw1/attest', workId, proverKey, lastLink)
