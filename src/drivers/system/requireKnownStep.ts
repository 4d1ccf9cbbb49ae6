import { createHash } from 'node:crypto'
import { QUAD_BYTES, type StepKernels } from '../../core/work/stepKernels.ts'

/** SHA-256 of what the calls below leave, as WebAssembly has it. */
export const KNOWN_STEP = '93e8e8ec099540e5fce4d7b54951686e714fbf9d7f7c72fb588682172329237a'
export const KNOWN_STEP_BYTES = 196_608

const LOW = 8
const K = 2 ** LOW
const ROWS = 13
const COORDINATES = 10

/** W12 in a nutshell: codes, hashes of columns, both ways through matrices, a round, on a memory of some pages. */
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
  kernels.stepHashBlocks(states, further, K / 4, 64, 1)
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
  return createHash('sha256')
    .update(memory.subarray(start, at(68)))
    .update(memory.subarray(further, at(172)))
    .digest('hex')
}

/** Throws where a library computes transitions by sumcheck otherwise than WebAssembly does. */
export function requireKnownStep(stepOn: (memory: Uint8Array) => StepKernels): void {
  const memory = new Uint8Array(KNOWN_STEP_BYTES)
  if (digestOfStep(stepOn(memory), memory, 64) !== KNOWN_STEP) throw new Error('its transitions are wrong')
}
