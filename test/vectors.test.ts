import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { concatBytes, words32 } from '../src/core/bytes/bytes.ts'
import { checkSignature, signerFrom } from '../src/core/bytes/ed25519.ts'
import { fromHex, toHex } from '../src/core/bytes/hex.ts'
import type { Precision } from '../src/core/params/precision.ts'
import { type Challenge, challengeHash, decodeChallenge, encodeChallenge } from '../src/core/proof/challenge.ts'
import { entryRow, philox } from '../src/core/proof/entries.ts'
import { fingerprintTile } from '../src/core/proof/fingerprint.ts'
import { buildTree, leafHash, pathOf, rootFrom, rootOf } from '../src/core/proof/merkle.ts'
import { mix32 } from '../src/core/proof/mix32.ts'
import { bindPartner, keptWords, passPartner } from '../src/core/proof/partners.ts'
import { drawOpening, queryHash } from '../src/core/proof/query.ts'
import { fma32, referenceEngine } from '../src/core/proof/referenceEngine.ts'
import { nextPass, nextSeed, nonceHash, partSeed, passRoot, seriesSeeds } from '../src/core/proof/seeds.ts'
import { bindLeaves, passLeaves, productTiles, roundLeaves } from './support/referenceRound.ts'

// biome-ignore lint/suspicious/noExplicitAny: the files are described in test/vectors/README.md
const read = (name: string): any => JSON.parse(readFileSync(new URL(`vectors/${name}.json`, import.meta.url), 'utf8'))
const bytes = (hex: string) => fromHex(hex, hex.length / 2)!
const word = (hex: string) => Number.parseInt(hex, 16)
const hexOf = (roots: readonly Uint8Array[]) => roots.map(toHex)

const floats = new Float32Array(1)
const floatBits = new Uint32Array(floats.buffer)
const toFloat = (hex: string) => {
  floatBits[0] = word(hex)
  return floats[0]!
}
const toBits = (value: number) => {
  floats[0] = value
  return floatBits[0]!.toString(16).padStart(8, '0')
}

describe('the reference equals the vectors of an independent implementation', () => {
  test('§3 Philox', () => {
    for (const { counter, key, output } of read('philox')) {
      const out = new Uint32Array(4)
      philox(counter.map(word), word(key[0]), word(key[1]), out)
      expect([...out]).toEqual(output.map(word))
    }
  })

  test('§3 entries, up to index 2^36', () => {
    for (const { precision, seed, matrix, first, values } of read('entries')) {
      const k = 8
      const row = Math.floor(first / k)
      const rows = Math.ceil((values.length + (first % k)) / k)
      const all = Array.from({ length: rows }, (_, i) => [
        ...entryRow(bytes(seed), matrix, precision, row + i, k),
      ]).flat()
      const scale = precision === 'fp32' ? 2 ** 23 : 1
      expect(all.slice(first % k, (first % k) + values.length).map((entry) => entry * scale)).toEqual(values)
    }
  })

  test('§2, §5 tiles of every precision', () => {
    for (const { precision, seed, n, k, tile, values, valuesSha256, f0, f1, leaf } of read('tiles')) {
      if (k > 2048) continue
      const columns = n / 32
      const place = { tileRow: Math.floor(tile / columns), tileColumn: tile % columns }
      const words = referenceEngine.tile({ seed: bytes(seed), precision, k, ...place })
      const raw = new Uint8Array(words.buffer)
      if (values) expect(toHex(raw)).toBe(values)
      else expect(createHash('sha256').update(raw).digest('hex')).toBe(valuesSha256)
      const fingerprint = fingerprintTile(words, words32(bytes(seed))[3]!)
      expect([String(fingerprint.f0), String(fingerprint.f1)]).toEqual([f0, f1])
      expect(toHex(leafHash(tile, fingerprint))).toBe(leaf)
    }
  })

  test('§2 fused multiply-add on what a chain can meet', () => {
    for (const { name, a, b, c, result } of read('fma').domain)
      expect(`${name} ${toBits(fma32(toFloat(a), toFloat(b), toFloat(c)))}`).toBe(`${name} ${result}`)
  })

  test('§5 mix32 and fingerprints', () => {
    const rules: Record<string, (i: number) => number> = {
      zeros: () => 0,
      ones: () => 1,
      'minus one': () => 0xffffffff,
      index: (i) => i,
      squares: (i) => Math.imul(4099, Math.imul(i, i)) >>> 0,
    }
    const { mix32: mixed, tiles } = read('fingerprints')
    for (const [input, output] of mixed) expect(mix32(word(input))).toBe(word(output))
    for (const { values, salt, f0, f1 } of tiles) {
      const fingerprint = fingerprintTile(
        Uint32Array.from({ length: 1024 }, (_, i) => rules[values]!(i)),
        word(salt),
      )
      expect([String(fingerprint.f0), String(fingerprint.f1)]).toEqual([f0, f1])
    }
  })

  test('§5 leaves, trees, paths and pass roots', () => {
    const { leaves, trees, passRoots } = read('merkle')
    for (const { tile, f0, f1, leaf } of leaves)
      expect(toHex(leafHash(tile, { f0: BigInt(f0), f1: BigInt(f1) }))).toBe(leaf)
    for (const tree of trees) {
      const levels = buildTree(tree.leaves.map(bytes))
      expect(toHex(levels.at(-1)![0]!)).toBe(tree.root)
      tree.paths.forEach((path: string[], index: number) => {
        expect(toHex(pathOf(levels, index))).toBe(path.join(''))
        expect(toHex(rootFrom(levels[0]![index]!, index, concatBytes(...path.map(bytes))))).toBe(tree.root)
      })
    }
    for (const { pass, roots, q } of passRoots) expect(toHex(passRoot(pass, roots.map(bytes)))).toBe(q)
  })

  test('§4.1 challenges, both ways', () => {
    const { challenges, nonces } = read('challenge')
    for (const { challenge, canonical, x } of challenges) {
      const ours: Challenge = {
        version: 1,
        runId: bytes(challenge.runId),
        validatorKey: bytes(challenge.validatorKey),
        proverKey: bytes(challenge.proverKey),
        deviceCount: challenge.devices,
        parts: challenge.parts.map((part: { nonceHash: string }) => ({ ...part, nonceHash: bytes(part.nonceHash) })),
      }
      expect(toHex(encodeChallenge(ours))).toBe(canonical)
      expect(decodeChallenge(bytes(canonical))).toEqual(ours)
      expect(toHex(challengeHash(bytes(canonical)))).toBe(x)
    }
    for (const { nonce, hash } of nonces) expect(toHex(nonceHash(bytes(nonce)))).toBe(hash)
  })

  test('§4.2 seeds, §4.4 queries and draws', () => {
    const seeds = read('seeds')
    for (const { x, s, part, device, seed } of seeds.first)
      expect(toHex(partSeed(bytes(x), bytes(s), part, device))).toBe(seed)
    for (const { seed, root, next } of seeds.next) expect(toHex(nextSeed(bytes(seed), bytes(root)))).toBe(next)
    const { queries, draws } = read('query')
    for (const { x, s, nonce, z0, roots, q } of queries) {
      const inputs = { x: bytes(x), s: bytes(s), nonce: bytes(nonce), roots: [roots.map(bytes)] }
      expect(toHex(queryHash(z0 ? { ...inputs, z: bytes(z0) } : inputs))).toBe(q)
    }
    for (const { q, device, opening, rounds, tiles, round, tile } of draws)
      expect(drawOpening(bytes(q), device, opening, rounds, tiles)).toEqual({ round, tile })
  })

  const shape = (precision: Precision) => ({ precision, m: 64, n: 64, k: 64 })

  test('§4.2 a whole chain of each precision, and §8 a bind chain', () => {
    for (const chain of read('chain')) {
      const seeds = seriesSeeds(
        partSeed(bytes(chain.x), bytes(chain.s), chain.part, chain.device),
        chain.roots.map(bytes),
      )
      expect(hexOf(seeds)).toEqual(chain.seeds)
      const roots = seeds.map((seed) =>
        rootOf(roundLeaves(seed, productTiles(seed, shape(chain.precision), referenceEngine))),
      )
      expect(hexOf(roots)).toEqual(chain.roots)
    }
    const { chain, widePartners } = read('bind')
    const roots = chain.seeds.map((hex: string) => {
      const seed = bytes(hex)
      return rootOf(bindLeaves(seed, productTiles(seed, shape('int8'), referenceEngine)))
    })
    expect(hexOf(roots)).toEqual(chain.roots)
    for (const { seed, tiles, tile, partner } of widePartners)
      expect(bindPartner(tile, bytes(seed), tiles)).toBe(partner)
  })

  test('§7 memory and §8 link over two devices', () => {
    const memory = read('memory')
    const link = read('link')
    const fills = memory.devices.map((device: { seeds: string[] }) =>
      device.seeds.flatMap((seed) => productTiles(bytes(seed), shape('int8'), referenceEngine)),
    )
    const expectPasses = (
      passes: { z: string; q: string; roundRoots: string[] }[],
      kept: number,
      fill: Uint32Array[],
      other: Uint32Array[],
    ) =>
      passes.forEach(({ z, q, roundRoots }, j) => {
        const leaves = passLeaves(bytes(z), fill, other)
        const perRound = leaves.length / kept
        const roots = Array.from({ length: kept }, (_, i) => rootOf(leaves.slice(i * perRound, (i + 1) * perRound)))
        expect(hexOf(roots)).toEqual(roundRoots)
        expect(toHex(passRoot(j, roots))).toBe(q)
        if (passes[j + 1]) expect(toHex(nextPass(bytes(z), bytes(q)))).toBe(passes[j + 1]!.z)
      })
    memory.devices.forEach((device: { kept: number; firstTileWords: string; passes: [] }, d: number) => {
      expect(toHex(new Uint8Array(keptWords(fills[d][0]).buffer))).toBe(device.firstTileWords)
      expectPasses(device.passes, device.kept, fills[d], fills[d])
      expectPasses(link.devices[d].passes, device.kept, fills[d], fills[link.devices[d].partnerDevice])
    })
    for (const { z, tiles, u, partner } of memory.widePartners) expect(passPartner(u, bytes(z), tiles)).toBe(partner)
  })

  test('Ed25519, border cases included', () => {
    const { signed, judged } = read('ed25519')
    for (const { secret, public: key, message, signature } of signed) {
      const signer = signerFrom(bytes(secret))
      expect([toHex(signer.publicKey), toHex(signer.sign(bytes(message)))]).toEqual([key, signature])
    }
    for (const { name, public: key, message, signature, valid } of judged)
      expect(`${name}: ${checkSignature(bytes(signature), bytes(message), bytes(key))}`).toBe(`${name}: ${valid}`)
  })
})
