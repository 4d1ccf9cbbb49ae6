import { concatBytes } from '../../src/core/bytes/bytes.ts'
import { TILE } from '../../src/core/params/constants.ts'
import { buildTree, padRoots, pathOf, rootOf } from '../../src/core/proof/merkle.ts'
import { referenceEngine } from '../../src/core/proof/referenceEngine.ts'
import { nextPass, nextSeed, passRoot } from '../../src/core/proof/seeds.ts'
import type { TileEngine } from '../../src/core/proof/tileEngine.ts'
import type { FillTask, LeafPosition, SeriesTask } from '../../src/ports/device.ts'
import { bindLeaves, passLeaves, productTiles, roundLeaves } from './referenceRound.ts'

/** What a device must answer, from the definitions in core alone. */
export interface ExpectedSeries {
  readonly roots: readonly Uint8Array[]
  readonly tiles: readonly (readonly Uint32Array[])[]
  paths(asked: readonly LeafPosition[]): Uint8Array
}

export function expectedSeries(task: SeriesTask, engine: TileEngine = referenceEngine): ExpectedSeries {
  const leavesOf = task.kind === 'bind' ? bindLeaves : roundLeaves
  const roots: Uint8Array[] = []
  const trees: ReturnType<typeof buildTree>[] = []
  const tiles: Uint32Array[][] = []
  let seed = task.seed
  for (let round = 0; round < task.rounds; round++) {
    const made = productTiles(seed, task, engine)
    const tree = buildTree(leavesOf(seed, made))
    tiles.push(made)
    trees.push(tree)
    roots.push(tree.at(-1)![0]!)
    seed = nextSeed(seed, roots.at(-1)!)
  }
  const paths = (asked: readonly LeafPosition[]) =>
    concatBytes(...asked.map(({ round, tile }) => pathOf(trees[round]!, tile)))
  return { roots, tiles, paths }
}

export function expectedFill({ m, n, k, kept, seed }: FillTask, engine: TileEngine = referenceEngine): ExpectedSeries {
  return expectedSeries({ kind: 'rounds', precision: 'int8', m, n, k, rounds: kept, seed }, engine)
}

interface ExpectedPasses {
  readonly roots: readonly Uint8Array[]
  paths(asked: readonly LeafPosition[]): Uint8Array
}

export function expectedPasses(
  task: FillTask,
  fill: ExpectedSeries,
  {
    passes,
    start,
    peer = fill,
    words,
  }: { passes: number; start: Uint8Array; peer?: ExpectedSeries; words?: readonly Uint8Array[] },
): ExpectedPasses {
  const perRound = (task.m / TILE) * (task.n / TILE)
  const roots: Uint8Array[] = []
  const made: { readonly leaves: readonly Uint8Array[]; readonly keptRoots: readonly Uint8Array[] }[] = []
  const own = fill.tiles.flat()
  const others = peer === fill ? own : peer.tiles.flat()
  let z = start
  for (let pass = 0; pass < passes; pass++) {
    z = words?.[pass] ?? z
    const leaves = passLeaves(z, own, others)
    const keptRoots = Array.from({ length: task.kept }, (_, g) =>
      rootOf(leaves.slice(g * perRound, (g + 1) * perRound)),
    )
    roots.push(passRoot(pass, keptRoots))
    made.push({ leaves, keptRoots })
    z = nextPass(z, roots.at(-1)!)
  }
  const paths = (asked: readonly LeafPosition[]) =>
    concatBytes(
      ...asked.flatMap(({ round, tile: u }) => {
        const { leaves, keptRoots } = made[round]!
        const g = Math.floor(u / perRound)
        const inRound = buildTree(leaves.slice(g * perRound, (g + 1) * perRound))
        return [
          pathOf(inRound, u % perRound),
          pathOf(buildTree(padRoots(keptRoots)), g),
          fill.paths([{ round: g, tile: u % perRound }]),
        ]
      }),
    )
  return { roots, paths }
}

/** Several fills that are passed over together: the words of all passes follow from the roots of all. */
export function expectedJointPasses(
  fills: readonly { readonly task: FillTask; readonly fill: ExpectedSeries }[],
  { passes, start }: { passes: number; start: Uint8Array },
): readonly ExpectedPasses[] {
  const words = [start]
  const upTo = (count: number) =>
    fills.map(({ task, fill }) => expectedPasses(task, fill, { passes: count, start, words }))
  for (let pass = 0; pass < passes - 1; pass++)
    words.push(nextPass(words[pass]!, ...upTo(pass + 1).map(({ roots }) => roots[pass]!)))
  return upTo(passes)
}
