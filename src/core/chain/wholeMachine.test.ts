import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import * as world from '../../../test/support/chainWorld.ts'
import { applyBlock } from './applyBlock.ts'
import { decodeBlock } from './blockBytes.ts'
import { genesisState, stateRoot } from './genesisState.ts'
import { genesisHash } from './genesisType.ts'
import { issuanceOf } from './ledger.ts'
import { CHAIN_PRESETS, type ChainParams } from './params.ts'
import { PROBLEM_CODES } from './problems.ts'
import { bodyRoot, headerMessage } from './signing.ts'
import { type Block, encodeBlock } from './ssz.ts'
import { LockType, TransferType } from './transactions/payloads.ts'

const names = ['ada', 'bob', 'cyd', 'dan']
const [ada, bob, cyd, dan] = names.map(world.keyNamed) as [Uint8Array, Uint8Array, Uint8Array, Uint8Array]
const genesis = world.genesisOf(names.map((name) => world.accountNamed(name)))
const start = world.advance(genesisState(genesis))
const transferTo = (to: Uint8Array, amount: bigint) => TransferType.serialize({ to, amount })

describe('the whole machine', () => {
  const kinds = [0, 0, 0, 1, 2, 3, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 24, 99]
  const amount = fc.oneof(
    fc.bigInt({ min: 0n, max: world.tokens(200_000) }),
    fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }),
  )
  const step = fc.record({
    kind: fc.constantFrom(...kinds),
    who: fc.nat({ max: 4 }),
    to: fc.nat({ max: 5 }),
    amount,
    purpose: fc.nat({ max: 4 }),
    bytes: fc.uint8Array({ maxLength: 300 }),
    isPlain: fc.boolean(),
    gap: fc.constantFrom(1n, 1n, 1n, 3n, 9n),
    commits: fc.boolean(),
  })
  const people = [...names, 'eve', 'fay'].map(world.keyNamed)

  test('property: units are conserved to the last one, and what is refused leaves the state alone', () => {
    fc.assert(
      fc.property(fc.array(step, { minLength: 1, maxLength: 25 }), (steps) => {
        let state = start
        for (const { kind, who, to, amount: sum, purpose, bytes, isPlain, gap, commits } of steps) {
          const money = kind === 0 ? transferTo(people[to]!, sum) : LockType.serialize({ purpose, amount: sum })
          const payload = isPlain && kind < 4 && kind !== 1 ? money : bytes
          const tx = world.txOf(state, people[who]!, kind, payload)
          const root = stateRoot(state)
          const made = world.make(state, [tx], state.view.slot + gap, commits ? [world.commitOfHead(state)] : [])
          expect(stateRoot(state)).toEqual(root)
          if ('problem' in made) {
            expect(PROBLEM_CODES).toContain(made.problem.code)
            state = world.advance(state, [], state.view.slot + gap)
          } else state = made.state
          expect(world.unitsOf(state)).toBe(state.view.supply)
        }
      }),
      { numRuns: 15 },
    )
  })

  test('property: a block with one byte changed is refused with a code, and the state stays', () => {
    const made = world.make(start, [
      world.txOf(start, ada, 0, transferTo(bob, 5n)),
      world.txOf(start, cyd, 0, transferTo(dan, 5n)),
    ])
    if ('problem' in made) throw new Error(made.problem.code)
    const block = encodeBlock(made.block)
    const root = stateRoot(start)
    /** What an author who can sign anything would send. */
    const sealed = ({ header, body }: Block): Block => {
      const unsigned = { ...header, bodyRoot: bodyRoot(body) }
      return {
        header: { ...unsigned, sig: world.signAs(header.author, headerMessage(start.genesisHash, unsigned)) },
        body,
      }
    }
    fc.assert(
      fc.property(
        fc.nat({ max: block.length - 1 }),
        fc.integer({ min: 1, max: 255 }),
        fc.boolean(),
        (index, mask, isSealed) => {
          const changed = block.slice()
          changed[index]! ^= mask
          const read = decodeBlock(changed)
          if (read === null) return
          const applied = applyBlock(start, isSealed ? sealed(read) : read, world.standIns)
          if ('state' in applied) expect(encodeBlock(sealed(read))).toEqual(block)
          if ('state' in applied) return
          expect('problem' in applied && PROBLEM_CODES.includes(applied.problem.code)).toBe(true)
          expect(stateRoot(start)).toEqual(root)
        },
      ),
      { numRuns: 150 },
    )
  })

  test('every parameter and every account is part of the genesis hash', () => {
    const hash = genesisHash(genesis).join()
    for (const name of Object.keys(genesis.params) as (keyof ChainParams)[]) {
      const params = { ...genesis.params, [name]: genesis.params[name] + 1n }
      expect(genesisHash({ ...genesis, params }).join()).not.toBe(hash)
    }
    expect(genesisHash({ ...genesis, accounts: genesis.accounts.slice(1) }).join()).not.toBe(hash)
    expect(genesisHash({ ...genesis, authorities: [] }).join()).not.toBe(hash)
  })

  test('all that is ever issued are 7 * 10^8 tokens', () => {
    let all = 0n
    for (let year = 0n; year < 61n; year++) all += 8_766n * issuanceOf(year * 8_766n, CHAIN_PRESETS.mainnet)
    expect(all / world.tokens(1)).toBe(700_019_792n)
  })
})
