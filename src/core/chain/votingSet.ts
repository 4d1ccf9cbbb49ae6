import { taggedHash } from '../bytes/sha256.ts'
import { be256, u32be } from './bigEndian.ts'
import { weightedDraw } from './weightedDraw.ts'

/** Somebody who may vote, by its place among the candidates, and what its vote weighs. */
export interface Voter {
  readonly index: number
  readonly weight: bigint
}

export interface VotingSet {
  /** The heaviest first, then those with a seat in the order of their first one. */
  readonly voters: readonly Voter[]
  readonly total: bigint
}

/** How many vote with all their weight, and how many seats stand for all the others. */
export interface VotingSizes {
  readonly exact: number
  readonly seats: number
}

/**
 * The voters of a set (§3.6). `weights` are those of the candidates by ascending key; of two equals the lower key comes
 * first. The heaviest vote with what they have, the weight of the rest is spread over drawn seats, so that all of it counts.
 */
export function votingSet(weights: readonly bigint[], eta: Uint8Array, { exact, seats }: VotingSizes): VotingSet {
  const byWeight = weights
    .map((weight, index) => ({ index, weight }))
    .filter(({ weight }) => weight > 0n)
    .sort((a, b) => (a.weight === b.weight ? a.index - b.index : a.weight > b.weight ? -1 : 1))
  const rest = byWeight.slice(exact).sort((a, b) => a.index - b.index)
  const voters = [...byWeight.slice(0, exact), ...seatHolders(rest, eta, seats)]
  return { voters, total: voters.reduce((sum, { weight }) => sum + weight, 0n) }
}

function seatHolders(rest: readonly Voter[], eta: Uint8Array, seats: number): Voter[] {
  const draw = weightedDraw(rest.map(({ weight }) => weight))
  const seatWeight = draw === null ? 0n : draw.total / BigInt(seats)
  // Less than a unit a seat weighs nothing; a voter without weight would only be a place to fill.
  if (draw === null || seatWeight === 0n) return []
  const held = new Map<number, bigint>()
  for (let seat = 0; seat < seats; seat++) {
    const { index } = rest[draw.at(be256(taggedHash('ts1/seat', eta, u32be(seat))))]!
    held.set(index, (held.get(index) ?? 0n) + seatWeight)
  }
  return [...held].map(([index, weight]) => ({ index, weight }))
}
