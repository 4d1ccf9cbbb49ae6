import { describe, expect, test } from 'vitest'
import * as world from '../../../test/support/chainWorld.ts'
import { toHex } from '../../core/bytes/hex.ts'
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
    expect(
      pool.pick(start, 1n, '').map(({ account, nonce }) => [account === cyd || account[0] === cyd[0], nonce]),
    ).toEqual([
      [true, 0n],
      [false, 0n],
      [false, 1n],
    ])
    // What an author has to say itself, such as evidence, waits for nobody else's fee.
    expect(pool.pick(start, 1n, toHex(ada)).map(({ fee }) => fee)).toEqual([FEE, 9n * FEE, 3n * FEE])
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
    expect([pool.size, pool.pick(after, 2n, '')]).toEqual([1, []])
  })

  test('attack 362: one whose turn comes later is read as well: who is behind must not forward what is none', () => {
    const pool = new TxPool(world.standIns)
    const later = (kind: number, payload: Uint8Array, more: Partial<Tx> = {}) =>
      codeOf(pool, world.txOf(start, ada, kind, payload, { nonce: 1n, ...more }))
    const payment = TransferType.serialize({ to: bob, amount: 1n })
    expect([later(99, payment), later(16, payment)]).toEqual(['UNKNOWN_KIND', 'RESERVED'])
    expect([later(0, payment.subarray(1)), later(0, payment, { payer: [ada] })]).toEqual(['MALFORMED', 'ACCOUNT'])
    expect([later(0, payment, { payer: [bob], payerSig: [] }), later(0, payment)]).toEqual(['SIGNATURE', 'taken'])
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
    expect(pool.pick(start, 1n, '').map(({ fee }) => fee)).toEqual([12n * FEE, 6n * FEE])
    const many = new TxPool(world.standIns)
    const row = Array.from({ length: 64 }, (_, i) => pay(ada, { nonce: BigInt(i) }))
    expect(new Set(withTxs(many, row))).toEqual(new Set(['taken']))
  })

  test('what is in a block comes again if the branch is left, and goes when it is final, too late or unfit', () => {
    const pool = new TxPool(world.standIns)
    const tx = pay(ada, { lastSlot: 9n })
    withTxs(pool, [tx, pay(ada, { nonce: 1n, lastSlot: 5n })])
    const after = world.advance(start, [tx])
    expect(pool.pick(after, 2n, '').map(({ nonce }) => nonce)).toEqual([1n])
    expect(pool.pick(start, 2n, '').length).toBe(2)
    pool.prune(start, 6n)
    expect(pool.size).toBe(1)
    pool.prune(after, 6n)
    expect(pool.size).toBe(0)
    withTxs(pool, [pay(cyd), pay(cyd, { nonce: 1n })])
    pool.drop(pay(cyd))
    expect(pool.size).toBe(0)
  })
})

describe('attack 332: a pool that is full of what no block can hold', () => {
  const names = Array.from({ length: 4 }, (_, i) => `sybil ${i}`)
  const poor = { balance: 3n * (FEE + 1n), bond: 0n, drilled: 0n, vrfKey: new Uint8Array(32) }
  const state = genesisState(
    world.genesisOf([
      ...['ada', 'bob', 'cyd'].map((name) => world.accountNamed(name)),
      ...names.map((name) => world.accountNamed(name, { ...poor, balance: 100n * FEE })),
      world.accountNamed('poor', poor),
    ]),
  )
  const paid = (from: Uint8Array, more: Partial<Tx>, amount = 1n) => pay(from, more, amount, state)

  test('takes what can follow in the place of what cannot, whatever that offers, and no more of it', () => {
    const pool = new TxPool(world.standIns, 60)
    const later = (name: string) =>
      Array.from({ length: 63 }, (_, i) => paid(world.keyNamed(name), { nonce: BigInt(i + 1), fee: 2n * FEE }))
    const told = names.map((name) => later(name).map((tx) => codeOf(pool, tx, state)))
    expect(told.map((codes) => codes.filter((code) => code === 'taken').length)).toEqual([16, 16, 16, 12])
    expect(new Set(told.flat())).toEqual(new Set(['taken', 'NONCE', 'FULL']))
    expect(pool.pick(state, 1n, '')).toEqual([])
    expect(codeOf(pool, paid(ada, {}), state)).toBe('taken')
    expect(codeOf(pool, paid(ada, { nonce: 1n }), state)).toBe('taken')
    expect(codeOf(pool, paid(ada, { nonce: 3n, fee: 9n * FEE }), state)).toBe('FULL')
    expect([pool.size, pool.pick(state, 1n, '').length]).toEqual([60, 2])
  })

  test('holds the dear ones behind a cheap one for no dearer than that', () => {
    const pool = new TxPool(world.standIns, 3)
    const row = [FEE, 9n * FEE, 9n * FEE].map((fee, i) => paid(ada, { nonce: BigInt(i), fee }))
    expect(row.map((tx) => codeOf(pool, tx, state))).toEqual(['taken', 'taken', 'taken'])
    expect(codeOf(pool, paid(cyd, { fee: 2n * FEE }), state)).toBe('taken')
    // The last of the row went: none of it waits in vain.
    expect(pool.pick(state, 1n, '').map(({ fee }) => fee)).toEqual([2n * FEE, FEE, 9n * FEE])
  })

  test('takes of an account only what it can pay for as a whole', () => {
    const key = world.keyNamed('poor')
    const pool = new TxPool(world.standIns)
    const fees = (nonce: bigint, amount = 1n) => codeOf(pool, paid(key, { nonce }, amount), state)
    expect([fees(0n), fees(1n, 3n + FEE), fees(1n, 2n)]).toEqual(['taken', 'BALANCE', 'taken'])
    expect(fees(2n)).toBe('BALANCE')
    // What the branch of the head holds was paid already.
    const after = world.advance(state, [paid(key, {})])
    expect(codeOf(pool, pay(key, { nonce: 2n, fee: FEE }, 1n, after), after, 2n)).toBe('BALANCE')
    expect(codeOf(pool, pay(key, { nonce: 1n, fee: 2n * FEE }, 1n, after), after, 2n)).toBe('taken')
    const sponsored = new TxPool(world.standIns)
    const by = (name: string) => paid(world.keyNamed(name), { payer: [key] })
    expect(names.map((name) => codeOf(sponsored, by(name), state))).toEqual(['taken', 'BALANCE', 'BALANCE', 'BALANCE'])
  })
})
