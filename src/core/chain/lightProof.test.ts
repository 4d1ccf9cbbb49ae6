import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import * as world from '../../../test/support/chainWorld.ts'
import { findAccount, located } from './chainState.ts'
import { genesisState, stateRoot } from './genesisState.ts'
import { checkLightProof, columnGindex, numberInLeaf } from './lightProof.ts'
import { gindexOf, proveEntry } from './proveEntry.ts'
import { balanceAt, nonceAt } from './purse.ts'

const names = Array.from({ length: 21 }, (_, i) => `account ${i}`)
const state = world.advance(
  genesisState(
    world.genesisOf(names.map((name, i) => world.accountNamed(name, { balance: BigInt(i + 1) * 10n ** 12n }))),
  ),
)
const root = stateRoot(state)

describe('a proof of one entry', () => {
  test('shows the balance and the power of every account under the root of the header', () => {
    for (const name of names) {
      const place = findAccount(located(state), world.keyNamed(name))
      for (const [column, at, bytes] of [
        ['purse', balanceAt(place), 8],
        ['purse', nonceAt(place), 8],
        ['drilled', place, 16],
      ] as const) {
        const proof = proveEntry(state, ['accounts', column, at])
        expect(proof.gindex).toBe(columnGindex(column, at))
        expect(checkLightProof(root, proof)).toBe(true)
        expect(numberInLeaf(proof.leaf, at, bytes)).toBe(state.view.accounts[column].get(at))
      }
      expect(proveEntry(state, ['accounts', 'key', place]).leaf).toEqual(world.keyNamed(name))
    }
    expect(checkLightProof(root, proveEntry(state, ['supply']))).toBe(true)
    expect(numberInLeaf(proveEntry(state, ['supply']).leaf, 0, 8)).toBe(state.view.supply)
  })

  test('property: one changed bit, another place or another length is refused', () => {
    const proof = proveEntry(state, ['accounts', 'purse', 7])
    const size = 32 * (proof.witnesses.length + 1)
    fc.assert(
      fc.property(fc.nat({ max: size - 1 }), fc.integer({ min: 1, max: 255 }), (at, mask) => {
        const parts = [proof.leaf, ...proof.witnesses].map((part) => part.slice())
        parts[Math.floor(at / 32)]![at % 32]! ^= mask
        expect(checkLightProof(root, { ...proof, leaf: parts[0]!, witnesses: parts.slice(1) })).toBe(false)
      }),
    )
    for (const gindex of [0n, 1n, proof.gindex + 1n, proof.gindex ^ 4n, proof.gindex * 2n])
      expect(checkLightProof(root, { ...proof, gindex })).toBe(false)
    expect(checkLightProof(root, { ...proof, witnesses: proof.witnesses.slice(1) })).toBe(false)
    expect(checkLightProof(root, { ...proof, leaf: proof.leaf.slice(1) })).toBe(false)
  })

  test('property: its place follows from the layout of the state, with and without the types', () => {
    const columns = ['key', 'purse', 'bond', 'stake', 'deposit', 'locked', 'drilled', 'trained', 'settled'] as const
    fc.assert(
      fc.property(fc.constantFrom(...columns), fc.nat({ max: 2 ** 30 - 1 }), (column, at) => {
        expect(columnGindex(column, at)).toBe(gindexOf(['accounts', column, at]))
      }),
    )
  })

  test('is checked by code that is small and needs nothing of Node', async () => {
    const entry = fileURLToPath(new URL('lightProof.ts', import.meta.url))
    const options = { bundle: true, minify: true, format: 'esm', platform: 'browser', write: false } as const
    const { outputFiles } = await build({ ...options, entryPoints: [entry] })
    expect(outputFiles[0]!.contents.length).toBeLessThan(20_000)
  })
})
