import { equalBytes, words32 } from '../../bytes/bytes.ts'
import { SHORTEST_SHARE } from '../../params/constants.ts'
import type { ChainTask } from '../deviceTask.ts'
import type { Fingerprint } from '../fingerprint.ts'
import { leafHash, rootFrom } from '../merkle.ts'
import { type PartKind, type PartShape, tileOf, tilesOf } from '../part.ts'
import { partKey } from '../planPart.ts'
import { chainSeeds, partSeed } from '../seeds.ts'

/** A tile of a round as its fingerprint needs it: its own values, and any other tile of the round. */
export interface RoundTile {
  readonly tile: number
  readonly own: Uint32Array
  readonly seed: Uint8Array
  readonly salt: number
  readonly tiles: number
  other(tile: number): Uint32Array
}

const work = ({ m, n, k }: PartShape): number => 2 * m * n * k

/** §4.2: what all chains of rounds have in common, whatever their leaves are made of. */
export function chain(kind: ChainTask['kind'], fingerprint: (of: RoundTile) => Fingerprint) {
  return {
    phases: [
      {
        name: 'rounds',
        roots: ({ rounds }) => rounds,
        task: ({ precision, m, n, k, rounds }, { seed }) => ({ chain: { kind, precision, m, n, k, rounds, seed } }),
        timing: (part) => ({ key: partKey(part), units: 1 }),
      },
    ],
    fill: () => null,
    tiles: (parts, p) => tilesOf(parts[p]!),
    openingBytes: (parts, p) => 32 * Math.log2(tilesOf(parts[p]!)),
    work: (parts, p) => work(parts[p]!),
    leastUs: (role, { sustainedSeconds, partSeconds }) =>
      SHORTEST_SHARE * 1e6 * (role === 'sustained' ? sustainedSeconds : partSeconds),
    verifier: ({ run, x, p, evidence, engine }) => {
      const part = run.challenge.parts[p]!
      const tiles = tilesOf(part)
      const seeds = chainSeeds(partSeed(x, run.parts[p]!.s, p, evidence.device), evidence.roots)
      return ({ round, tile }, path) => {
        const seed = seeds[round]!
        const other = (place: number) => tileOf(part, seed, place, engine)
        const leaf = fingerprint({ tile, own: other(tile), seed, salt: words32(seed)[3]!, tiles, other })
        const reached = rootFrom(leafHash(tile, leaf), tile, path)
        return equalBytes(reached, evidence.roots[round]!) ? null : 'OPENING_DOES_NOT_REACH_ROOT'
      }
    },
  } satisfies Partial<PartKind>
}
