import { taggedHash } from '../bytes/sha256.ts'

/** W4.6. What a listener commits to before a work begins. */
export const nonceCommitment = (nonce: Uint8Array): Uint8Array => taggedHash('tsw1/nonce', nonce)

/** What whoever did a work signs once the last h is out: the key of a receipt is not just a claim. */
export const executedMessage = (workId: Uint8Array, lastLink: Uint8Array): Uint8Array =>
  taggedHash('tsw1/executed', workId, lastLink)
