import { type HostTarget, stepBytes } from '../params/hostParts.ts'

/** Why a host part has nothing to show: never a verdict on the cards. */
export interface HostProblem {
  readonly code: string
  readonly text: string
  readonly nextStep: string
}

/** §12. What one host part showed, by the validator's clock. */
export interface HostPart {
  readonly part: HostTarget
  /** Null where nothing was shown. */
  readonly source: 'proven' | 'measured' | null
  /** Read in all lanes that count: of a table by a processor, else of blocks that are hashed. 0 where a mark was wrong. */
  readonly bytesPerSec: number
  /** Lanes that count, of so many. */
  readonly lanes: number
  readonly of: number
  readonly storedBytes: number
  /** What the box says of its reads; only a disk has a cache to pass. */
  readonly pastCache: boolean
  /** Wholly inside a part that kept every device busy, and quick enough. */
  readonly inWindow: boolean
  readonly problem: HostProblem | null
}

/** A wrong mark is the one problem that says something of the box: it tried to look faster than it is. */
export const WRONG_MARK = 'HOST_WRONG_MARK'

/**
 * §12. No card walks one lane as fast as this, in bytes a second: a round is at least a lookup in shared memory, 19 cycles on
 * the quickest; it reads 64 bytes, and no card runs at more than 3 GHz.
 */
export const FASTEST_CARD_LANE = 10.2e9

export interface Walk {
  readonly target: HostTarget
  /** Marks of each lane. */
  readonly marks: readonly number[]
  readonly stride: number
  /** From the order to the last mark. */
  readonly elapsedUs: number
}

/** Bytes a second of one lane. */
const laneRate = ({ target, stride, elapsedUs }: Walk, marks: number): number =>
  (marks * stride * stepBytes(target) * 1e6) / elapsedUs

/** The lanes that are a CPU's own: each faster than any card walks one. */
export const cpuLanes = (walk: Walk): number[] =>
  walk.marks.flatMap((marks, lane) => (laneRate(walk, marks) > FASTEST_CARD_LANE ? [lane] : []))

export const totalRate = (walk: Walk, lanes: readonly number[]): number =>
  lanes.reduce((sum, lane) => sum + laneRate(walk, walk.marks[lane]!), 0)
