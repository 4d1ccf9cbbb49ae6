import { createHash } from 'node:crypto'
import { type FieldKernels, PAIR_BYTES } from '../../core/work/fieldKernels.ts'

/** SHA-256 of what the calls below leave, as WebAssembly has it. */
export const KNOWN_FIELD = '05a933a3c25b7dcaa7fa380665fddb9a3189afee1bdf9937d3e0916d12a96dfb'
export const KNOWN_FIELD_BYTES = 131_072

const COORDINATES = 10
const WIDTH = 2 ** COORDINATES
const ROWS = 13

/** W8 in a nutshell: weights of a point, both ways through matrices, a round, and codes, on a memory of some pages. */
export function digestOfField(kernels: FieldKernels, memory: Uint8Array, start: number): string {
  const at = (kilobytes: number): number => start + 1024 * kilobytes
  // Any bytes are entries; numbers of the field are below 2^61 - 1.
  for (let i = 0; i < at(56) - start; i++) memory[start + i] = (i * 7919 + (i >> 8) * 104_729) & 255
  for (let i = 7; i < PAIR_BYTES * COORDINATES; i += 8) memory[start + i]! &= 15
  const [point, bytes, weights, v, w] = [at(0), at(1), at(64), at(80), at(96)]
  kernels.pointWeights(point, weights, COORDINATES)
  kernels.rowsTimesI8(bytes, weights, at(112), ROWS, WIDTH)
  kernels.rowsTimesI32(bytes, weights, at(113), ROWS, WIDTH)
  for (const vector of [v, w]) memory.fill(0, vector, vector + PAIR_BYTES * WIDTH)
  kernels.columnsTimesI8(bytes, weights, v, ROWS, WIDTH)
  kernels.columnsTimesI8(bytes + ROWS * WIDTH, weights, w, ROWS, WIDTH)
  kernels.pairDot(v, w, at(114), WIDTH)
  kernels.sumcheckRound(v, w, at(115), WIDTH / 2)
  kernels.sumcheckFold(v, point, WIDTH / 2)
  kernels.powers(point, weights, COORDINATES - 1)
  kernels.codeOf(w, weights, WIDTH / 2)
  kernels.codeColumnsI8(bytes, weights, at(116), v, 6, WIDTH / 64, 1, 8)
  return createHash('sha256')
    .update(memory.subarray(start, at(116)))
    .digest('hex')
}

/** Throws where a library computes sumchecks otherwise than WebAssembly does. */
export function requireKnownField(fieldOn: (memory: Uint8Array) => FieldKernels): void {
  const memory = new Uint8Array(KNOWN_FIELD_BYTES)
  if (digestOfField(fieldOn(memory), memory, 64) !== KNOWN_FIELD) throw new Error('its sumchecks are wrong')
}
