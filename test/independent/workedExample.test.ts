import { execFileSync, spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { concatBytes, u64le } from '../../src/core/bytes/bytes.ts'
import { checkSignature, signerFrom } from '../../src/core/bytes/ed25519.ts'
import { fromHex, toHex } from '../../src/core/bytes/hex.ts'
import {
  challengeHash,
  decodeChallenge,
  encodeChallenge,
  readyMessage,
  resultMessage,
} from '../../src/core/proof/challenge.ts'
import { entryRow } from '../../src/core/proof/entries.ts'
import { fingerprintTile } from '../../src/core/proof/fingerprint.ts'
import { buildTree, pathOf, rootFrom, rootOf } from '../../src/core/proof/merkle.ts'
import { drawOpening, queryHash } from '../../src/core/proof/query.ts'
import { referenceEngine } from '../../src/core/proof/referenceEngine.ts'
import { nextSeed, nonceHash, partSeed } from '../../src/core/proof/seeds.ts'
import { productTiles, roundLeaves } from '../support/referenceRound.ts'

const maker = fileURLToPath(new URL('worked_example.py', import.meta.url))
const hasPython = spawnSync('python3', ['--version']).status === 0
if (!hasPython) console.warn('skipped: python3 is not installed, so the worked example is not made again')

const page = readFileSync(new URL('../../docs/spec/worked-example.md', import.meta.url), 'utf8')

/** The bytes that the page gives behind `label`, alone on its line. */
function said(label: string): Uint8Array {
  const line = page.split('\n').find((text) => text.startsWith(`    ${label}`) && / = [0-9a-f]+$/.test(text))
  const hex = line?.slice(line.lastIndexOf(' ') + 1) ?? ''
  return fromHex(hex, hex.length / 2)!
}

/** The canonical bytes, out of the table of their fields. */
function saidChallenge(): Uint8Array {
  const fields = [...page.matchAll(/^\| \d+ \| [^|]+ \| `([0-9a-f]+)` \|/gm)].map(([, hex]) => hex!)
  return fromHex(fields.join(''), fields.join('').length / 2)!
}

const shape = { precision: 'int8', m: 64, n: 64, k: 32 } as const

/** The leaves of one round, as the program makes them. */
const leavesOf = (seed: Uint8Array) => roundLeaves(seed, productTiles(seed, shape, referenceEngine))

describe('the worked example of the specification', () => {
  it.skipIf(!hasPython)('is what the independent implementation makes, byte for byte', () => {
    expect(execFileSync('python3', ['-B', maker, '--check'], { encoding: 'utf8' })).toBe('')
  })

  it('has the challenge, X and signatures of the program', async () => {
    const challenge = decodeChallenge(saidChallenge())
    expect(toHex(encodeChallenge(challenge))).toBe(toHex(saidChallenge()))
    expect(toHex(challengeHash(saidChallenge()))).toBe(toHex(said('X = ')))
    expect(toHex(challenge.parts[0]!.nonceHash)).toBe(toHex(nonceHash(said('nonce_0'))))
    const ready = readyMessage(challenge)
    expect(toHex(await signerFrom(said("prover's secret")).sign(ready))).toBe(toHex(said('ready')))
    const result = resultMessage(challenge, [said('q = ')])
    expect(checkSignature(said('prover  '), result, challenge.proverKey)).toBe(true)
    expect(checkSignature(said('validator '), result, challenge.validatorKey)).toBe(true)
  })

  it('has the seeds, entries, fingerprints and roots of the program', () => {
    const seed = partSeed(said('X = '), said('S_0'), 0, 0)
    expect(toHex(seed)).toBe(toHex(said('seed of round 0')))
    for (const matrix of [0, 1] as const)
      expect(page).toContain(`    ${entryRow(seed, matrix, 'int8', 0, 32).slice(0, 16).join(' ')}\n`)
    const salt = new DataView(seed.buffer).getUint32(12, true)
    const { f0, f1 } = fingerprintTile(productTiles(seed, shape, referenceEngine)[0]!, salt)
    expect(toHex(concatBytes(u64le(f0), u64le(f1)))).toBe(toHex(said('tile 0: f0')) + toHex(said('tile 0: f1')))
    expect(leavesOf(seed).map(toHex)).toEqual([0, 1, 2, 3].map((tile) => toHex(said(`leaf ${tile}`))))
    expect(toHex(rootOf(leavesOf(seed)))).toBe(toHex(said('R_0')))
    const next = nextSeed(seed, said('R_0'))
    expect(toHex(next)).toBe(toHex(said('SHA-256("tsp1/next"')))
    expect(toHex(rootOf(leavesOf(next)))).toBe(toHex(said('R_1')))
  })

  it('has the query, the draw and the opening of the program', () => {
    const roots = [said('R_0'), said('R_1')]
    const q = queryHash({ x: said('X = '), s: said('S_0'), nonce: said('nonce_0'), roots: [roots] })
    expect(toHex(q)).toBe(toHex(said('q = ')))
    const { round, tile } = drawOpening(q, 0, 0, 2, 4)
    expect(page).toContain(`the siblings of tile ${tile} in round ${round}`)
    const leaves = leavesOf(said('seed = '))
    const path = concatBytes(said('sibling 0'), said('sibling 1'))
    expect(toHex(pathOf(buildTree(leaves), tile))).toBe(toHex(path))
    expect(toHex(rootFrom(leaves[tile]!, tile, path))).toBe(toHex(roots[round]!))
  })
})
