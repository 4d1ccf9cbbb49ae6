import { expect, test } from 'vitest'
import * as world from '../../../test/support/chainWorld.ts'
import { rightEnvelopes } from './envelopes.ts'
import { genesisState } from './genesisState.ts'
import { encodeBlock } from './ssz.ts'
import { TransferType } from './transactions/payloads.ts'

test('a row is right up to the first block with a wrong signature, wherever that stands', () => {
  const [ada, bob] = [world.keyNamed('ada'), world.keyNamed('bob')]
  let state = genesisState(world.genesisOf(['ada', 'bob'].map((name) => world.accountNamed(name))))
  const row = Array.from({ length: 5 }, () => {
    const payload = TransferType.serialize({ to: bob, amount: 1n })
    const made = world.make(state, [world.txOf(state, ada, 0, payload, { payer: [bob] })])
    if ('problem' in made) throw new Error(made.problem.code)
    state = made.state
    return made.block
  })
  const right = (blocks: typeof row) =>
    rightEnvelopes(blocks.map(encodeBlock), state.genesisHash, world.standIns.signature)
  expect(right(row)).toBe(5)
  const block = row[3]!
  const [tx] = block.body.txs
  const sig = new Uint8Array(64)
  const wrong = [
    { ...block, header: { ...block.header, sig } },
    { ...block, body: { ...block.body, txs: [{ ...tx!, sig }] } },
    { ...block, body: { ...block.body, txs: [{ ...tx!, payerSig: [sig] }] } },
    { ...block, body: { ...block.body, txs: [{ ...tx!, payerSig: [] }] } },
  ]
  for (const bad of wrong) expect(right(row.map((each, i) => (i === 3 ? bad : each)))).toBe(3)
  expect(rightEnvelopes([Uint8Array.of(1)], state.genesisHash, () => true)).toBe(0)
})
