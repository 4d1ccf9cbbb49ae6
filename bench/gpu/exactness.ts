import { equalBytes } from '../../src/core/bytes/bytes.ts'
import { buildTree, padRoots, pathOf } from '../../src/core/proof/merkle.ts'
import { nextSeed, passRoot, passWords } from '../../src/core/proof/seeds.ts'
import type { TileEngine } from '../../src/core/proof/tileEngine.ts'
import type { Card } from '../../src/drivers/gpu/cuda/card.ts'
import { Stop } from '../../src/drivers/gpu/cuda/stop.ts'
import { passLeaves, productTiles, roundLeaves } from '../../test/support/referenceRound.ts'

export interface Check {
  readonly what: string
  readonly ok: boolean
  readonly note?: string
}

const seedOf = (n: number): Uint8Array => Uint8Array.from({ length: 32 }, (_, i) => (n * 31 + i * 17 + 5) & 255)

const split = (bytes: Uint8Array): Uint8Array[] =>
  Array.from({ length: bytes.length / 32 }, (_, i) => bytes.slice(32 * i, 32 * i + 32))

/** A fill of `kept` rounds, passes and openings against the reference. */
export function checkMemory(card: Card, engine: TileEngine, side: number, kept: number): Check {
  const what = `memory ${side} kept ${kept}`
  try {
    const shape = { precision: 'int8' as const, m: side, n: side, k: 64 }
    const roots: Uint8Array[] = []
    const q: Uint8Array[] = []
    card.fill({ ...shape, kept, seed: seedOf(3) }, (more) => roots.push(...split(more)), new Stop())
    card.runPasses({ passes: 3, start: seedOf(4) }, (more) => q.push(...split(more)), new Stop())
    let seed = seedOf(3)
    const fill: Uint32Array[] = []
    const trees: (readonly (readonly Uint8Array[])[])[] = []
    for (let round = 0; round < kept; round++) {
      const tiles = productTiles(seed, shape, engine)
      fill.push(...tiles)
      trees.push(buildTree(roundLeaves(seed, tiles)))
      const root = trees.at(-1)!.at(-1)![0]!
      if (!equalBytes(root, roots[round]!)) return { what, ok: false, note: `fill root ${round} differs` }
      seed = nextSeed(seed, root)
    }
    const words = passWords(seedOf(4), q)
    const tiles = (side / 32) ** 2
    const asked = Array.from({ length: 12 }, (_, i) => ({ round: i % 3, tile: (i * 104729) % fill.length }))
    const bytes = card.openPasses(asked)
    const stride = bytes.length / asked.length
    for (let pass = 0; pass < 3; pass++) {
      const leaves = passLeaves(words[pass]!, fill)
      const roundTrees = Array.from({ length: kept }, (_, r) => buildTree(leaves.slice(r * tiles, (r + 1) * tiles)))
      const tops = roundTrees.map((tree) => tree.at(-1)![0]!)
      if (!equalBytes(passRoot(pass, tops), q[pass]!)) return { what, ok: false, note: `pass root ${pass} differs` }
      const top = buildTree(padRoots(tops))
      for (const [i, { round, tile }] of asked.entries()) {
        if (round !== pass) continue
        const r = Math.floor(tile / tiles)
        const expected = [pathOf(roundTrees[r]!, tile % tiles), pathOf(top, r), pathOf(trees[r]!, tile % tiles)]
        const all = new Uint8Array(expected.reduce((sum, part) => sum + part.length, 0))
        let at = 0
        for (const part of expected) {
          all.set(part, at)
          at += part.length
        }
        if (!equalBytes(all, bytes.subarray(stride * i, stride * (i + 1))))
          return { what, ok: false, note: `opening ${i} differs (stride ${stride}, expected ${all.length})` }
      }
    }
    card.release()
    return { what, ok: true }
  } catch (error) {
    return { what, ok: false, note: String(error).slice(0, 300) }
  }
}
