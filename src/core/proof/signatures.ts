import { ascii, concatBytes } from '../bytes/bytes.ts'
import { type Challenge, challengeHash, encodeChallenge } from './challenge.ts'

/** §4.1. What a prover signs before S_0: this challenge, made for its key. */
export const readyMessage = (challenge: Challenge): Uint8Array =>
  concatBytes(ascii('tsp1/ready'), challengeHash(encodeChallenge(challenge)))

/** §10. What both sides sign at the end: the challenge and q of every part in order, and with them every root. */
export const resultMessage = (challenge: Challenge, queries: readonly Uint8Array[]): Uint8Array =>
  concatBytes(ascii('tsp1/result'), challengeHash(encodeChallenge(challenge)), ...queries)
