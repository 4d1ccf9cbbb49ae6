import { equalBytes, u32le, words32 } from '../../bytes/bytes.ts'
import { taggedHash } from '../../bytes/sha256.ts'
import { KEPT_TILE_BYTES } from '../../params/constants.ts'
import {
  type Answered,
  fillBytes,
  fillTiles,
  type OpeningVerifier,
  type PartKind,
  type PartShape,
  type Phase,
  tileOf,
  tilesOf,
} from '../part.ts'
import { passPartner } from '../partners.ts'
import { jointPassWords, partSeed, passWords, seriesSeeds } from '../seeds.ts'
import { classK } from '../sizeClass.ts'

/** How passes differ: whose fill they read, on which device the partners lie, and how many tiles of a pair count. */
interface Passing {
  fill(parts: readonly PartShape[], p: number): number
  peerOf(part: PartShape, device: number): number
  readonly tilesCounted: number
  /** Whether the passes of all devices follow from each other's. */
  readonly joint: boolean
}

export const passes = ({ peerOf, joint }: Pick<Passing, 'peerOf' | 'joint'>): Phase => ({
  name: 'passes',
  roots: ({ rounds }) => rounds,
  task: (part, device, word) => ({
    passes: { passes: part.rounds, start: word },
    peer: peerOf(part, device),
    joint,
  }),
  timing: (part, device) => ({ key: 'pass byte', units: fillBytes(part, device) }),
})

/** §7, §8: what passes over a fill have in common. */
export function overFill(passing: Passing) {
  const { fill, tilesCounted } = passing
  const totalTiles: PartKind['tiles'] = (parts, p, device) => fillTiles(parts[fill(parts, p)]!, device)
  return {
    precisions: ['int8'],
    k: classK,
    fill,
    tiles: totalTiles,
    /** The path in the pass, then that in the fill. */
    openingBytes: (parts, p, device) => {
      const part = parts[fill(parts, p)]!
      const inRound = Math.log2(tilesOf(part))
      return 32 * (inRound + Math.ceil(Math.log2(part.kept[device]!)) + inRound)
    },
    work: (parts, p, device) => tilesCounted * KEPT_TILE_BYTES * totalTiles(parts, p, device),
    verifier: (answered) => passVerifier(answered, passing),
  } satisfies Partial<PartKind<PartShape<string, 'int8'>>>
}

/** The fill of one device as the verifier sees it: the roots it was committed with and how to recompute any tile of it. */
function committedFill({ run, x }: Answered, fillPart: number, device: number) {
  const part = run.challenge.parts[fillPart]!
  const { s, devices } = run.parts[fillPart]!
  const roots = devices.find((evidence) => evidence.device === device)!.roots.slice(0, part.kept[device]!)
  const seeds = seriesSeeds(partSeed(x, s, fillPart, device), roots)
  const tiles = tilesOf(part)
  return {
    roots,
    seeds,
    tiles,
    total: fillTiles(part, device),
    tile: (u: number) => tileOf(part, seeds[Math.floor(u / tiles)]!, u % tiles),
  }
}

function passVerifier(answered: Answered, { fill, peerOf, joint }: Passing): OpeningVerifier {
  const { run, p, evidence, engine } = answered
  const part = run.challenge.parts[p]!
  const { s, z, devices } = run.parts[p]!
  const fillPart = fill(run.challenge.parts, p)
  const own = committedFill(answered, fillPart, evidence.device)
  const other = committedFill(answered, fillPart, peerOf(part, evidence.device))
  const passRootsOf = ({ device, roots }: Pick<typeof evidence, 'device' | 'roots'>) => roots.slice(part.kept[device]!)
  const passRoots = passRootsOf(evidence)
  const words = joint ? jointPassWords(z ?? s, devices.map(passRootsOf)) : passWords(z ?? s, passRoots)
  const fillPathBytes = 32 * Math.log2(own.tiles)
  return ({ round, tile: u }, path) => {
    const tile = own.tile(u)
    const inPass = engine.rootFrom({
      own: tile,
      partner: other.tile(passPartner(u, words[round]!, other.total)),
      kept: true,
      salt: words32(words[round]!)[2]!,
      leaf: u,
      path: path.subarray(0, path.length - fillPathBytes),
    })
    const reached = taggedHash('tsp1/mem', u32le(round), inPass)
    if (!equalBytes(reached, passRoots[round]!)) return 'OPENING_DOES_NOT_REACH_ROOT'
    const keptRound = Math.floor(u / own.tiles)
    const inFill = engine.rootFrom({
      own: tile,
      kept: false,
      salt: words32(own.seeds[keptRound]!)[3]!,
      leaf: u % own.tiles,
      path: path.subarray(path.length - fillPathBytes),
    })
    return equalBytes(inFill, own.roots[keptRound]!) ? null : 'FILL_DOES_NOT_REACH_ROOT'
  }
}
