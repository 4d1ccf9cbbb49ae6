/** Why a host part has nothing to show: never a verdict on the cards. */
export interface HostProblem {
  readonly code: string
  readonly text: string
  readonly nextStep: string
}

/** §12. What one host part showed, by the validator's clock. */
export interface HostPart {
  readonly part: 'cpu' | 'memory' | 'disk'
  /** Null where nothing was shown. */
  readonly source: 'proven' | 'measured' | null
  /** Read and hashed in all lanes that count; 0 where a mark was wrong. */
  readonly bytesPerSec: number
  /** Lanes that count, of so many. */
  readonly lanes: number
  readonly of: number
  readonly storedBytes: number
  /** What the box says of its reads; only a disk has a cache to pass. */
  readonly pastCache: boolean
  /** Wholly inside a part that kept every device busy. */
  readonly inWindow: boolean
  readonly problem: HostProblem | null
}

/** A wrong mark is the one problem that says something of the box: it tried to look faster than it is. */
export const WRONG_MARK = 'HOST_WRONG_MARK'
