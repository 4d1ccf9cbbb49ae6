import { type Hasher, hasher as inUse, setHasher } from '@chainsafe/persistent-merkle-tree'
import { hasher as wasm } from '@chainsafe/persistent-merkle-tree/hasher/as-sha256'
import { hasher as native } from '@chainsafe/persistent-merkle-tree/hasher/hashtree'
import { hasher as noble } from '@chainsafe/persistent-merkle-tree/hasher/noble'
import fc from 'fast-check'
import { afterEach, describe, expect, test } from 'vitest'
import { StateType } from '../../core/chain/stateType.ts'
import { rootOf } from '../../core/chain/treeRoot.ts'
import { useFastTrees } from './useFastTrees.ts'

afterEach(() => setHasher(wasm))

const u64 = fc.bigInt({ min: 0n, max: 2n ** 64n - 1n })
const change = fc.record({
  at: fc.nat({ max: 6_000 }),
  amount: u64,
  hash: fc.uint8Array({ minLength: 32, maxLength: 32 }),
})

/** A state of many accounts that is changed in rounds, with a root after each: by one hasher, in one way. */
function rootsWith(
  hasher: Hasher,
  rounds: readonly (readonly { at: number; amount: bigint; hash: Uint8Array }[])[],
  isBatch: boolean,
) {
  setHasher(hasher)
  const state = StateType.defaultViewDU()
  for (let i = 0; i < 6_001; i++) state.accounts.purse.push(BigInt(i))
  return rounds.map((changes) => {
    for (const { at, amount, hash } of changes) {
      state.accounts.purse.set(at, amount)
      state.accounts.key.push(hash)
      state.randomness.push(hash)
      state.supply = amount
    }
    return isBatch ? rootOf(state) : state.hashTreeRoot()
  })
}

describe('the root of a state', () => {
  test('property: is the same by every library, node by node and level by level', () => {
    fc.assert(
      fc.property(fc.array(fc.array(change, { maxLength: 40 }), { minLength: 1, maxLength: 3 }), (rounds) => {
        const expected = rootsWith(noble, rounds, false)
        for (const hasher of [noble, wasm, native])
          expect([hasher.name, rootsWith(hasher, rounds, true)]).toEqual([hasher.name, expected])
      }),
      { numRuns: 6 },
    )
  })
})

describe('the library that hashes trees', () => {
  test('is WebAssembly where the state is loaded, and the native one where it can be', async () => {
    expect(inUse.name).toBe('as-sha256')
    expect(await useFastTrees()).toBe('hashtree')
    expect(inUse.name).toBe('hashtree')
  })

  test('stays what it is where the native one cannot be loaded', async () => {
    expect(await useFastTrees(() => Promise.reject(new Error('no build for this machine')))).toBe('as-sha256')
  })
})
