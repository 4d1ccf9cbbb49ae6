import { HOST_BLOCK_BYTES } from '../params/hostParts.ts'

/**
 * §12. No card walks one lane as fast as this, in bytes a second: a round of SHA-512 is at least four dependent
 * instructions of four cycles, a block of 128 bytes has 80 rounds, and no card runs at more than 3 GHz. An H200 showed
 * 45 MB/s (bench/gpu/hashLane.cu).
 */
export const FASTEST_CARD_LANE = 300e6

export interface Walk {
  /** Marks of each lane. */
  readonly marks: readonly number[]
  readonly stride: number
  /** From the order to the last mark. */
  readonly elapsedUs: number
}

/** Bytes a second of one lane. */
export const laneRate = ({ stride, elapsedUs }: Walk, marks: number): number =>
  (marks * stride * HOST_BLOCK_BYTES * 1e6) / elapsedUs

/** The lanes that are a CPU's own: each faster than any card walks one. */
export const cpuLanes = (walk: Walk): number[] =>
  walk.marks.flatMap((marks, lane) => (laneRate(walk, marks) > FASTEST_CARD_LANE ? [lane] : []))

export const totalRate = (walk: Walk, lanes: readonly number[]): number =>
  lanes.reduce((sum, lane) => sum + laneRate(walk, walk.marks[lane]!), 0)
