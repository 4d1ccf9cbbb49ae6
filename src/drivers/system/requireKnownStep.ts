import { createHash } from 'node:crypto'
import { QUAD_BYTES, type StepKernels } from '../../core/work/stepKernels.ts'

/** SHA-256 of what the calls below leave, as WebAssembly has it. */
export const KNOWN_STEP = '5329f188fc0dafcd2391c51dd375fb56d4766f642dc415505fd839cf952bd784'
export const KNOWN_STEP_BYTES = 196_608

const LOW = 8
const K = 2 ** LOW
const ROWS = 13
const COORDINATES = 10

/** W12 in a nutshell: codes, hashes of columns, both ways through matrices, a round, a tree, on a memory of some pages. */
export function digestOfStep(kernels: StepKernels, memory: Uint8Array, start: number): string {
  const at = (kilobytes: number): number => start + 1024 * kilobytes
  // Any bytes are entries; numbers of the field are below p, which is above 2^30.
  for (let i = 0; i < at(64) - start; i++) memory[start + i] = (i * 7919 + (i >> 8) * 104_729) & 255
  for (let i = 3; i < QUAD_BYTES * COORDINATES; i += 4) memory[start + i]! &= 63
  const [point, x, tables, room, further, states] = [at(0), at(1), at(64), at(68), at(84), at(100)]
  kernels.stepTables(tables, LOW)
  kernels.stepHashBegin(states, point, K)
  for (const [i, size] of [1, 4].entries()) kernels.stepCode(x, tables, room, further + 4096 * i, size, ROWS, LOW)
  kernels.stepHashBytes(states, x, K)
  kernels.stepHashWords(states, x, K)
  kernels.stepHashBlocks(states, further, K / 4)
  kernels.stepHashEnd(states, at(108), K, 32)
  kernels.nodes(at(108), at(116), K / 2)
  const [weights, v, w] = [at(120), at(136), at(152)]
  kernels.stepWeights(point, weights, COORDINATES)
  for (const vector of [v, w]) memory.fill(0, vector, vector + QUAD_BYTES * 2 ** COORDINATES)
  for (const [i, size] of [1, 4].entries()) {
    kernels.stepColumns(x, weights, [v, w][i]!, size, ROWS, 2 ** COORDINATES)
    kernels.stepRows(x, weights, at(168 + i), size, ROWS, 2 ** COORDINATES - 1, size * 2 ** COORDINATES)
  }
  kernels.stepDot(v, w, at(170), 2 ** COORDINATES)
  kernels.stepRound(v, w, at(171), 2 ** (COORDINATES - 1))
  kernels.stepFold(v, point, 2 ** (COORDINATES - 1))
  kernels.stepAdd(v, point, w, 2 ** COORDINATES - 1)
  kernels.stepHashColumns(x, point, at(172), 21, 333, 48)
  const places = at(173)
  memory.fill(0, places, at(174))
  for (const [i, leaf] of [1, 4, 5].entries()) memory[places + 8 * i] = leaf
  kernels.climb(at(172), places, at(108), at(174), 3, 3)
  for (const [i, most] of [2 ** 32 - 1, 2 ** 31].entries()) memory[at(175) + i] = kernels.stepWithin(x, 3, most, 1001)
  return createHash('sha256')
    .update(memory.subarray(start, at(68)))
    .update(memory.subarray(further, at(175) + 2))
    .digest('hex')
}

/** Throws where a library computes transitions by sumcheck otherwise than WebAssembly does. */
export function requireKnownStep(stepOn: (memory: Uint8Array) => StepKernels): void {
  const memory = new Uint8Array(KNOWN_STEP_BYTES)
  if (digestOfStep(stepOn(memory), memory, 64) !== KNOWN_STEP) throw new Error('its transitions are wrong')
}
