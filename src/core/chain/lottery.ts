import { digest } from '@chainsafe/as-sha256'
import { ascii, concatBytes } from '../bytes/bytes.ts'
import { taggedHash } from '../bytes/sha256.ts'
import { be256, u64be } from './bigEndian.ts'
import { BETA_BYTES } from './ecvrf.ts'
import type { WeightedDraw } from './weightedDraw.ts'

/** What a leader's VRF is asked in a slot (§3.3): fixed by the branch, different for every slot. */
export const slotAlpha = (genesisHash: Uint8Array, eta: Uint8Array, slot: bigint): Uint8Array =>
  concatBytes(ascii('ts1-slot'), genesisHash, eta, u64be(slot))

/** "L" and a beta after it: asked so often that making the bytes anew would cost more than hashing them. */
const lotteryInput = concatBytes(ascii('L'), new Uint8Array(BETA_BYTES))

/** y, which wins the slot if it is below T(w, W). */
export function lotteryNumber(beta: Uint8Array): bigint {
  if (beta.length !== BETA_BYTES) throw new RangeError(`beta has ${BETA_BYTES} bytes, not ${beta.length}`)
  lotteryInput.set(beta, 1)
  return be256(digest(lotteryInput))
}

/** rho, what a primary block adds to the randomness; apart from y, so that winning says nothing of it. */
export const blockRandomness = (beta: Uint8Array): Uint8Array => taggedHash('N', beta)

/** The entry of the draw over eligible weights that may make the secondary block of a slot. */
export const secondaryAuthor = (draw: WeightedDraw, eta: Uint8Array, slot: bigint): number =>
  draw.at(be256(taggedHash('S', eta, u64be(slot))))

/** eta of epoch e >= 3 (§3.4): of the one before, and of the primary blocks of epoch e - 2 on this branch in their order. */
export const nextEta = (previous: Uint8Array, epoch: bigint, randomness: readonly Uint8Array[]): Uint8Array =>
  taggedHash('eta', previous, u64be(epoch), ...randomness)
