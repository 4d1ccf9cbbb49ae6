import { equalBytes, words32 } from '../../src/core/bytes/bytes.ts'
import type { Precision } from '../../src/core/params/precision.ts'
import { fingerprintTile } from '../../src/core/proof/fingerprint.ts'
import { buildTree, leafHash, padRoots, pathOf, rootFrom, rootOf } from '../../src/core/proof/merkle.ts'
import { bindLeaves, passLeaves, productTiles, roundLeaves } from '../../src/core/proof/referenceRound.ts'
import { nextSeed, passRoot, passWords } from '../../src/core/proof/seeds.ts'
import type { TileEngine } from '../../src/core/proof/tileEngine.ts'
import type { Card } from '../../src/drivers/gpu/cuda/card.ts'
import { runChain } from '../../src/drivers/gpu/cuda/chain.ts'
import type { ProductMaker } from '../../src/drivers/gpu/cuda/product.ts'
import { Stop } from '../../src/drivers/gpu/cuda/stop.ts'

export interface Check {
  readonly what: string
  readonly ok: boolean
  readonly note?: string
}

const seedOf = (n: number): Uint8Array => Uint8Array.from({ length: 32 }, (_, i) => (n * 31 + i * 17 + 5) & 255)

const split = (bytes: Uint8Array): Uint8Array[] =>
  Array.from({ length: bytes.length / 32 }, (_, i) => bytes.slice(32 * i, 32 * i + 32))

/** Chains of small rounds against the plain reference: roots, then every path of every kind of product. */
export function checkChain(
  card: Card,
  engine: TileEngine,
  shape: { precision: Precision; m: number; n: number; k: number; kind: 'rounds' | 'bind' },
  maker?: ProductMaker,
): Check {
  const what = `${shape.kind} ${shape.precision} ${shape.m}x${shape.n}x${shape.k} ${maker ?? 'best'}`
  try {
    const rounds = 3
    const plan = card.plan({ ...shape, rounds }, maker ? { maker } : {})
    const got: Uint8Array[] = []
    runChain(card.tools, plan, { seed: seedOf(shape.m), rounds }, (more) => got.push(...split(more)), new Stop())
    let seed = seedOf(shape.m)
    for (let round = 0; round < rounds; round++) {
      const tiles = productTiles(seed, shape, engine)
      const leaves = shape.kind === 'bind' ? bindLeaves(seed, tiles) : roundLeaves(seed, tiles)
      const root = rootOf(leaves)
      if (!equalBytes(root, got[round]!)) return { what, ok: false, note: `root ${round} differs (${plan.product.by})` }
      seed = nextSeed(seed, root)
    }
    return { what, ok: true, note: plan.product.by }
  } catch (error) {
    return { what, ok: false, note: String(error).slice(0, 300) }
  }
}

export function checkPaths(
  card: Card,
  engine: TileEngine,
  shape: { precision: Precision; m: number; n: number; k: number; kind: 'rounds' | 'bind' },
): Check {
  const what = `paths ${shape.precision} ${shape.m}x${shape.n}x${shape.k}`
  try {
    const got: Uint8Array[] = []
    card.runChain({ ...shape, rounds: 3, seed: seedOf(9) }, (more) => got.push(...split(more)), new Stop())
    const tiles = (shape.m / 32) * (shape.n / 32)
    const asked = Array.from({ length: 24 }, (_, i) => ({ round: i % 3, tile: (i * 7919) % tiles }))
    const bytes = card.openChain(asked)
    const stride = 32 * Math.log2(tiles)
    if (bytes.length !== stride * asked.length) return { what, ok: false, note: `length ${bytes.length}` }
    const seeds = [seedOf(9)]
    for (const root of got.slice(0, 2)) seeds.push(nextSeed(seeds.at(-1)!, root))
    for (const [i, { round, tile }] of asked.entries()) {
      const columns = shape.n / 32
      const own = engine.tile({
        seed: seeds[round]!,
        precision: shape.precision,
        k: shape.k,
        tileRow: Math.floor(tile / columns),
        tileColumn: tile % columns,
      })
      const leaf = leafHash(tile, fingerprintTile(own, words32(seeds[round]!)[3]!))
      const reached = rootFrom(leaf, tile, bytes.subarray(stride * i, stride * (i + 1)))
      if (!equalBytes(reached, got[round]!)) return { what, ok: false, note: `opening ${i} does not reach its root` }
    }
    return { what, ok: true }
  } catch (error) {
    return { what, ok: false, note: String(error).slice(0, 300) }
  }
}

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

/** Random tiles of one large round: fingerprints on the card against the CPU engine. */
export function checkTiles(
  card: Card,
  engine: TileEngine,
  shape: { precision: Precision; m: number; n: number; k: number },
  count: number,
  maker?: ProductMaker,
): Check {
  const what = `tiles ${shape.precision} ${shape.m}x${shape.n}x${shape.k} ${maker ?? 'best'} x${count}`
  try {
    const plan = card.plan({ ...shape, kind: 'rounds', rounds: 1 }, maker ? { maker } : {})
    const seed = seedOf(77)
    runChain(card.tools, plan, { seed, rounds: 1 }, () => {}, new Stop())
    const tiles = (shape.m / 32) * (shape.n / 32)
    const prints = card.tools.api.download(plan.prints, 16 * tiles)
    const view = new BigUint64Array(prints.buffer)
    const columns = shape.n / 32
    let wrong = 0
    for (let i = 0; i < count; i++) {
      const tile = Math.floor((i * 0.6180339887498949 * tiles) % tiles)
      const own = engine.tile({
        seed,
        precision: shape.precision,
        k: shape.k,
        tileRow: Math.floor(tile / columns),
        tileColumn: tile % columns,
      })
      const f = fingerprintTile(own, words32(seed)[3]!)
      if (f.f0 !== view[2 * tile] || f.f1 !== view[2 * tile + 1]) wrong++
    }
    return { what, ok: wrong === 0, note: `${wrong} of ${count} differ` }
  } catch (error) {
    return { what, ok: false, note: String(error).slice(0, 300) }
  }
}
