import { describe, expect, test } from 'vitest'
import * as world from '../../../test/support/chainWorld.ts'
import { genesisState } from '../../core/chain/genesisState.ts'
import { type Tx, TxType } from '../../core/chain/ssz.ts'
import { TransferType } from '../../core/chain/transactions/payloads.ts'
import { TxPool } from './txPool.ts'

const [ada, bob, cyd] = ['ada', 'bob', 'cyd'].map(world.keyNamed) as [Uint8Array, Uint8Array, Uint8Array]
const start = genesisState(world.genesisOf(['ada', 'bob', 'cyd'].map((name) => world.accountNamed(name))))
const pay = (from: Uint8Array, more: Partial<Tx> = {}, amount = 1n, state = start) =>
  world.txOf(state, from, 0, TransferType.serialize({ to: bob, amount }), more)
const bytesOf = (tx: Tx) => TxType.serialize(tx)
const FEE = pay(ada).fee
const withTxs = (pool: TxPool, txs: readonly Tx[]) => txs.map((tx) => pool.add(bytesOf(tx), start, 1n).kind)
const codeOf = (pool: TxPool, tx: Tx, state = start, slot = 1n) => {
  const result = pool.add(bytesOf(tx), state, slot)
  return result.kind === 'refused' ? result.problem.code : result.kind
}

describe('a pool of transactions', () => {
  test('hands out the best paid first, each account in its order and without gaps', () => {
    const pool = new TxPool(world.standIns)
    const txs = [
      pay(ada, { nonce: 0n, fee: FEE }),
      pay(ada, { nonce: 1n, fee: 9n * FEE }),
      pay(cyd, { nonce: 0n, fee: 3n * FEE }),
      pay(cyd, { nonce: 2n, fee: 8n * FEE }),
    ]
    expect(withTxs(pool, txs)).toEqual(['taken', 'taken', 'taken', 'taken'])
    expect(pool.pick(start, 1n).map(({ account, nonce }) => [account === cyd || account[0] === cyd[0], nonce])).toEqual(
      [
        [true, 0n],
        [false, 0n],
        [false, 1n],
      ],
    )
    expect([pool.nextNonce(ada, start), pool.nextNonce(cyd, start), pool.nextNonce(bob, start)]).toEqual([2n, 1n, 0n])
  })

  test('attack 25: altered, replayed, unpaid and overspending ones are refused', () => {
    const pool = new TxPool(world.standIns)
    const tx = pay(ada)
    expect(codeOf(pool, { ...tx, payload: TransferType.serialize({ to: cyd, amount: 1n }) })).toBe('SIGNATURE')
    expect(codeOf(pool, { ...pay(ada, { nonce: 3n }), fee: 2n * FEE })).toBe('SIGNATURE')
    expect(codeOf(pool, pay(ada, { fee: FEE - 1n }))).toBe('FEE')
    expect(codeOf(pool, pay(ada, { nonce: 1n, fee: FEE - 1n }))).toBe('FEE')
    expect(codeOf(pool, pay(ada, { nonce: 64n }))).toBe('NONCE')
    expect(codeOf(pool, pay(ada, { nonce: 1n, lastSlot: 99n }))).toBe('EXPIRED')
    expect(codeOf(pool, pay(ada, {}, world.tokens(200_000)))).toBe('BALANCE')
    expect(codeOf(pool, pay(world.keyNamed('nobody')))).toBe('ACCOUNT')
    expect(pool.add(Uint8Array.of(1, 2), start, 1n)).toMatchObject({ problem: { code: 'MALFORMED' } })
    expect(codeOf(pool, tx)).toBe('taken')
    expect(codeOf(pool, tx)).toBe('known')
    const after = world.advance(start, [tx])
    expect(new TxPool(world.standIns).add(bytesOf(tx), after, 2n)).toMatchObject({ problem: { code: 'NONCE' } })
    expect([pool.size, pool.pick(after, 2n)]).toEqual([1, []])
  })

  test('a trial leaves nothing behind in the state it was tried on', () => {
    const pool = new TxPool(world.standIns)
    const payload = TransferType.serialize({ to: world.keyNamed('new one'), amount: 5n })
    const before = start.view.hashTreeRoot()
    expect(codeOf(pool, world.txOf(start, ada, 0, payload))).toBe('taken')
    expect(start.view.hashTreeRoot()).toEqual(before)
    expect(codeOf(pool, pay(world.keyNamed('new one')))).toBe('ACCOUNT')
  })

  test('is bounded: one that pays a tenth more replaces its twin, or the worst paid of a full pool', () => {
    const pool = new TxPool(world.standIns, 2)
    const first = pay(ada, { fee: 10n * FEE })
    expect(codeOf(pool, first)).toBe('taken')
    expect(codeOf(pool, pay(ada, { fee: 10n * FEE + 1n }))).toBe('TWICE')
    expect(codeOf(pool, pay(ada, { fee: 12n * FEE }))).toBe('taken')
    expect(codeOf(pool, pay(bob, { fee: 5n * FEE }))).toBe('taken')
    expect(codeOf(pool, pay(cyd, { fee: 5n * FEE }))).toBe('FULL')
    expect(codeOf(pool, pay(cyd, { fee: 6n * FEE }))).toBe('taken')
    expect(pool.pick(start, 1n).map(({ fee }) => fee)).toEqual([12n * FEE, 6n * FEE])
    const many = new TxPool(world.standIns)
    const row = Array.from({ length: 64 }, (_, i) => pay(ada, { nonce: BigInt(i) }))
    expect(new Set(withTxs(many, row))).toEqual(new Set(['taken']))
  })

  test('what is in a block comes again if the branch is left, and goes when it is final, too late or unfit', () => {
    const pool = new TxPool(world.standIns)
    const tx = pay(ada, { lastSlot: 9n })
    withTxs(pool, [tx, pay(ada, { nonce: 1n, lastSlot: 5n })])
    const after = world.advance(start, [tx])
    expect(pool.pick(after, 2n).map(({ nonce }) => nonce)).toEqual([1n])
    expect(pool.pick(start, 2n).length).toBe(2)
    pool.prune(start, 6n)
    expect(pool.size).toBe(1)
    pool.prune(after, 6n)
    expect(pool.size).toBe(0)
    withTxs(pool, [pay(cyd), pay(cyd, { nonce: 1n })])
    pool.drop(pay(cyd))
    expect(pool.size).toBe(0)
  })
})
