import { ascii } from '../../../bytes/bytes.ts'
import type { Pointer } from '../../../engine/kernels.ts'
import { HASHED_TOGETHER, STATE_BYTES } from '../../stepKernels.ts'
import { LEAF_BYTES } from '../../tensor.ts'
import { depthOf } from '../../tensorTree.ts'
import type { StepRooms } from './stepRooms.ts'

const BLOCK_BYTES = 64
const LENGTH_BYTES = 8
const HASH_BYTES = 32

/** W12.1.6. The block that the bytes of every column's part begin with. */
const FIRST_BLOCK = new Uint8Array(BLOCK_BYTES)
FIRST_BLOCK.set(ascii('tsw1/column'))

const hashedTogether = (columns: number): number => Math.ceil(columns / HASHED_TOGETHER) * HASHED_TOGETHER

/** States of so many columns, all at their beginning. */
export function beginColumns(rooms: StepRooms, columns: number): Pointer {
  const states = rooms.room(STATE_BYTES * hashedTogether(columns))
  rooms.during(() => rooms.kernels.stepHashBegin(states, rooms.putBytes(FIRST_BLOCK), hashedTogether(columns)))
  return states
}

/** What SHA-256 puts behind so many bytes of a column, so that whole blocks of 64 are there. */
export function endOfColumn(bytes: number): Uint8Array {
  const blocks = Math.floor((bytes + LENGTH_BYTES) / BLOCK_BYTES) + 1
  const end = new Uint8Array(blocks * BLOCK_BYTES - bytes)
  end[0] = 0x80
  new DataView(end.buffer).setBigUint64(end.length - LENGTH_BYTES, BigInt(8 * (BLOCK_BYTES + bytes)))
  return end
}

/** W12.1.6. The hashes of columns that lie one after the other, so many bytes each: at `to`, and from there `apart`. */
export function hashColumns(
  rooms: StepRooms,
  at: Pointer,
  columns: number,
  bytes: number,
  to: Pointer,
  apart: number,
): void {
  rooms.engine.reserve(at + hashedTogether(columns) * bytes)
  rooms.during(() => rooms.kernels.stepHashColumns(at, rooms.putBytes(FIRST_BLOCK), to, columns, bytes, apart))
}

/** The tree over so many hashes that lie at `tree`, with room for all levels behind them; where its root lies. */
export function finishTree({ kernels }: StepRooms, tree: Pointer, depth: number): Pointer {
  let from = tree
  for (let count = 2 ** depth / 2; count >= 1; count /= 2) {
    kernels.nodes(from, from + 2 * count * HASH_BYTES, count)
    from += 2 * count * HASH_BYTES
  }
  return from
}

/** W12.1.3. Long stretches are absorbed by their root (W4.1), which is made of many hashes side by side. */
export function rootOfBytes(rooms: StepRooms, at: Pointer, bytes: number): Uint8Array {
  if (bytes === 0) return new Uint8Array()
  return rooms.during(() => {
    const depth = depthOf(Math.ceil(bytes / LEAF_BYTES))
    const tree = rooms.zeros(HASH_BYTES * 2 ** (depth + 1))
    rooms.kernels.leaves(at, tree, 1, bytes)
    return rooms.bytes(finishTree(rooms, tree, depth), HASH_BYTES).slice()
  })
}
