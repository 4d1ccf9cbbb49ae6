import { quorumOf } from '../recordCommit.ts'
import { type VotingSizes, votingSet } from '../votingSet.ts'
import { type WeightedDraw, weightedDraw } from '../weightedDraw.ts'

/** An account in the snapshot that an epoch of a branch draws from (§3.10): the state at the end of epoch e - 3. */
export interface Standing {
  /** Public key in hexadecimal. */
  readonly key: string
  readonly vrfKey: Uint8Array
  /** w, its weight in the lottery, boot weight included; 0 if it may not make blocks. */
  readonly weight: bigint
  /** v, its weight in votes, boot weight included; 0 without a bond or in jail. */
  readonly vote: bigint
  /** Whether boot weight is in it (§3.8). */
  readonly isBoot: boolean
}

/** The voters of a set, by their place in a commit's list of bits. */
export interface Voters {
  readonly keys: readonly string[]
  readonly weights: readonly bigint[]
  readonly places: ReadonlyMap<string, number>
  /** What a quorum must weigh, in time and late. */
  readonly quorum: bigint
  readonly lateQuorum: bigint
  /** The same in floating point, for sums that only need to be exact near the end. */
  readonly nearly: { readonly weights: Float64Array; readonly quorum: number; readonly lateQuorum: number }
}

/** What consensus asks of a branch in one epoch. It follows from blocks alone, never from what a node has seen. */
export interface EpochView {
  readonly epoch: number
  readonly eta: Uint8Array
  /** Those who may make blocks, by ascending key. */
  readonly authors: readonly Standing[]
  /** Over the weights of `authors`; null if nobody has any. */
  readonly draw: WeightedDraw | null
  /** The set with the number of this epoch. */
  readonly voters: Voters
}

/** `standings` by ascending key. */
export function epochView(
  epoch: number,
  eta: Uint8Array,
  standings: readonly Standing[],
  sizes: VotingSizes,
): EpochView {
  const authors = standings.filter(({ weight }) => weight > 0n)
  const set = votingSet(
    standings.map(({ vote }) => vote),
    eta,
    sizes,
  )
  const draw = weightedDraw(authors.map(({ weight }) => weight))
  const voters = set.voters.map(({ index, weight }) => ({ key: standings[index]!.key, weight }))
  return { epoch, eta, authors, draw, voters: votersFrom(voters, set.total) }
}

/** The voters of a set in their order, whose weights add up to `total`. */
export function votersFrom(
  voters: readonly { readonly key: string; readonly weight: bigint }[],
  total: bigint,
): Voters {
  const keys = voters.map(({ key }) => key)
  const weights = voters.map(({ weight }) => weight)
  const [quorum, lateQuorum] = [quorumOf(total, false), quorumOf(total, true)]
  return {
    keys,
    weights,
    places: new Map(keys.map((key, place) => [key, place])),
    quorum,
    lateQuorum,
    nearly: { weights: Float64Array.from(weights, Number), quorum: Number(quorum), lateQuorum: Number(lateQuorum) },
  }
}
