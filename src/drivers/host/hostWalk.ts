import { createHash } from 'node:crypto'
import { ascii, concatBytes, equalBytes, u32le } from '../../core/bytes/bytes.ts'
import {
  HOST_BLOCK_BYTES,
  HOST_BLOCK_TAG,
  HOST_LANE_TAG,
  HOST_TABLE_BYTES,
  HOST_TABLE_TAG,
  ROUNDS_PER_STEP,
} from '../../core/params/hostParts.ts'
import type { LaneOfWalk, Stretch } from '../../ports/walkChecker.ts'
import type { Rounds } from './hostRounds.ts'

/** §12. Any block alone, at about the speed of a disk: SHAKE128 has to be squeezed from its beginning. */
export const hostBlock = (seed: Uint8Array, index: number): Uint8Array =>
  createHash('shake128', { outputLength: HOST_BLOCK_BYTES })
    .update(concatBytes(ascii(HOST_BLOCK_TAG), seed, u32le(index)))
    .digest()

/** §12. What a processor's lane looks up: a table of its own, so that several in one core share nothing (attack 425). */
export const hostTable = (nonce: Uint8Array, lane: number): Uint8Array =>
  createHash('shake128', { outputLength: HOST_TABLE_BYTES })
    .update(concatBytes(ascii(HOST_TABLE_TAG), nonce, u32le(lane)))
    .digest()

/** §12. Where a lane begins: not known before the nonce is. */
export const laneStart = (nonce: Uint8Array, lane: number): Uint8Array =>
  createHash('sha512')
    .update(concatBytes(ascii(HOST_LANE_TAG), nonce, u32le(lane)))
    .digest()

/** §12. Which block a lane reads where it stands. */
export const nextBlock = (at: Uint8Array, blocks: number): number =>
  new DataView(at.buffer, at.byteOffset).getUint32(0, true) % blocks

/**
 * §12. One step: what comes first in the hash is where the lane stands, so nothing of a block can be hashed beforehand. Where
 * the lane began is in every one, so that none is made before the nonce, or for two lanes at once (attack 421).
 */
export const hostStep = (at: Uint8Array, start: Uint8Array, block: Uint8Array): Uint8Array =>
  createHash('sha512').update(at).update(start).update(block).digest()

type Steps = (at: Uint8Array, steps: number) => Uint8Array

const NO_BLOCK = new Uint8Array()

/**
 * A lane of a processor. Rounds alone leave some states as they are, and those are quickly found: a lane that stood there had
 * its marks for nothing (attack 464). No hash leads back to one.
 */
export function laneOfRounds(rounds: Rounds, nonce: Uint8Array, lane: number): Steps {
  const table = hostTable(nonce, lane)
  const start = laneStart(nonce, lane)
  return (from, steps) => {
    let at = from
    for (let step = 0; step < steps; step++) at = hostStep(rounds(at, table, ROUNDS_PER_STEP), start, NO_BLOCK)
    return at
  }
}

/** A lane over blocks. */
const laneOverBlocks =
  ({ seed, blocks, nonce, lane }: LaneOfWalk): Steps =>
  (from, steps) => {
    const start = laneStart(nonce, lane)
    let at = from
    for (let step = 0; step < steps; step++) at = hostStep(at, start, hostBlock(seed, nextBlock(at, blocks)))
    return at
  }

/** Where a lane leads by the specification alone. */
export const laneOf = (task: LaneOfWalk, rounds: Rounds): Steps =>
  task.target === 'cpu' ? laneOfRounds(rounds, task.nonce, task.lane) : laneOverBlocks(task)

/** Whether a stretch leads where it says. */
export const holds = ({ from, to, steps, ...task }: Stretch, rounds: Rounds): boolean =>
  equalBytes(laneOf(task, rounds)(from ?? laneStart(task.nonce, task.lane), steps), to)
