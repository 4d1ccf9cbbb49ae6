import { ascii } from '../../../bytes/bytes.ts'
import type { Pointer } from '../../../engine/kernels.ts'
import { HASHED_TOGETHER, STATE_BYTES } from '../../stepKernels.ts'
import type { StepRooms } from './stepRooms.ts'

const BLOCK_BYTES = 64
const LENGTH_BYTES = 8

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

/** W12.1.6. The hashes of columns that lie one after the other, so many bytes each. */
export function hashColumns(rooms: StepRooms, at: Pointer, columns: number, bytes: number): readonly Uint8Array[] {
  return rooms.during(() => {
    const whole = Math.floor(bytes / BLOCK_BYTES)
    const all = hashedTogether(columns)
    const end = endOfColumn(bytes)
    const last = bytes - whole * BLOCK_BYTES + end.length
    const states = beginColumns(rooms, columns)
    const [ends, out] = [rooms.room(all * last), rooms.room(32 * all)]
    for (let i = 0; i < columns; i++) {
      const part = rooms.bytes(at + i * bytes + whole * BLOCK_BYTES, bytes - whole * BLOCK_BYTES)
      rooms.bytes(ends + i * last, part.length).set(part)
      rooms.bytes(ends + i * last + part.length, end.length).set(end)
    }
    // Columns beyond the last are whatever lies there; nobody looks at their hashes.
    rooms.engine.reserve(at + all * bytes)
    rooms.kernels.stepHashBlocks(states, at, all, bytes, whole)
    rooms.kernels.stepHashBlocks(states, ends, all, last, last / BLOCK_BYTES)
    rooms.kernels.stepHashEnd(states, out, all, 32)
    return Array.from({ length: columns }, (_, i) => rooms.bytes(out + 32 * i, 32).slice())
  })
}
