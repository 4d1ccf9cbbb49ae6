import { expect, test } from 'vitest'
import * as world from '../../../test/support/chainWorld.ts'
import { decodeBlock } from '../../core/chain/blockBytes.ts'
import { genesisState } from '../../core/chain/genesisState.ts'
import { CHAIN_PRESETS } from '../../core/chain/params.ts'
import { txBytes } from '../../core/chain/signing.ts'
import { boxAddMessage } from '../../core/chain/transactions/boxes.ts'
import { BoxAddType, TransferType } from '../../core/chain/transactions/payloads.ts'
import { makeOwnBlock } from './blockMaker.ts'

test('attack 358: of many that exclude each other one is in the block, and so is all that waits behind them', () => {
  const sybils = Array.from({ length: 36 }, (_, i) => `sybil ${i}`)
  const accounts = ['ada', ...sybils].map((name) => world.accountNamed(name))
  // Room for a few transactions beside a commit.
  const params = { ...CHAIN_PRESETS.tiny, blockBytes: 70_000n + 1_500n }
  const state = genesisState(world.genesisOf(accounts, { params }))
  const box = world.keyNamed('box')
  const claims = sybils.map((name) => {
    const account = world.keyNamed(name)
    const boxSig = world.signAs(box, boxAddMessage(state.genesisHash, box, account))
    return world.txOf(state, account, 4, BoxAddType.serialize({ box, boxSig }))
  })
  const amount = TransferType.serialize({ to: box, amount: 5n })
  const payments = [0n, 1n].map((nonce) => world.txOf(state, world.keyNamed('ada'), 0, amount, { nonce }))
  const drawn = world.make(state)
  if ('problem' in drawn) throw new Error(drawn.problem.code)
  const { slot, author, kind, vrfProof } = drawn.block.header
  const signer = { publicKey: author, sign: (message: Uint8Array) => world.signAs(author, message) }
  const vrfKey = { publicKey: author, prove: () => vrfProof, evaluate: () => vrfProof }
  const txs = [...claims, ...payments]
  const shared = { state, slot, right: { kind, vrfProof }, keys: { signer, vrfKey }, commits: [] }
  const made = makeOwnBlock({ ...shared, txs, checks: world.standIns })!
  expect(decodeBlock(made.bytes)!.body.txs).toEqual([claims[0], ...payments])
  expect(made.misfits).toEqual(claims.slice(1))
  const row = Array.from({ length: 9 }, (_, i) =>
    world.txOf(state, world.keyNamed('ada'), 0, amount, { nonce: BigInt(i) }),
  )
  const full = makeOwnBlock({ ...shared, txs: row, checks: world.standIns })!
  expect(decodeBlock(full.bytes)!.body.txs).toHaveLength(Math.floor(1_500 / (4 + txBytes(row[0]!))))
  expect(full.misfits).toEqual([])
})
