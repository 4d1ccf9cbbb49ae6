import { equalBytes, words32 } from '../../bytes/bytes.ts'
import { SHORTEST_SHARE } from '../../params/constants.ts'
import type { SeriesTask } from '../deviceTask.ts'
import { type PartKind, tileOf, tilesOf } from '../part.ts'
import { partKey } from '../planPart.ts'
import { partSeed, seriesSeeds } from '../seeds.ts'

type Partner = (tile: number, seed: Uint8Array, tiles: number) => number

/** §4.2: what series of rounds have in common; with `partner`, each tile is fingerprinted together with that one (§8). */
export function series(kind: SeriesTask['kind'], partner?: Partner) {
  return {
    phases: [
      {
        name: 'rounds',
        roots: ({ rounds }) => rounds,
        task: ({ precision, m, n, k, rounds }, _device, _word, seed) => ({
          series: { kind, precision, m, n, k, rounds, seed },
        }),
        timing: (part) => ({ key: partKey(part), units: 1 }),
      },
    ],
    fill: () => null,
    tiles: (parts, p) => tilesOf(parts[p]!),
    openingBytes: (parts, p) => 32 * Math.log2(tilesOf(parts[p]!)),
    work: (parts, p) => 2 * parts[p]!.m * parts[p]!.n * parts[p]!.k,
    leastUs: (role, { sustainedSeconds, partSeconds }) =>
      SHORTEST_SHARE * 1e6 * (role === 'sustained' ? sustainedSeconds : partSeconds),
    verifier: ({ run, x, p, evidence, engine }) => {
      const part = run.challenge.parts[p]!
      const tiles = tilesOf(part)
      const seeds = seriesSeeds(partSeed(x, run.parts[p]!.s, p, evidence.device), evidence.roots)
      return ({ round, tile }, path) => {
        const seed = seeds[round]!
        const reached = engine.rootFrom({
          own: tileOf(part, seed, tile),
          partner: partner && tileOf(part, seed, partner(tile, seed, tiles)),
          kept: false,
          salt: words32(seed)[3]!,
          leaf: tile,
          path,
        })
        return equalBytes(reached, evidence.roots[round]!) ? null : 'OPENING_DOES_NOT_REACH_ROOT'
      }
    },
  } satisfies Partial<PartKind>
}
