import { expect, test } from 'vitest'
import * as world from '../../../test/support/chainWorld.ts'
import { applyBlock } from './applyBlock.ts'
import { checkRow, checksKnowing, lotsAfter } from './envelopes.ts'
import { genesisState } from './genesisState.ts'
import { headerMessage } from './signing.ts'
import { type Block, encodeBlock } from './ssz.ts'
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
  const checks = { ...world.standIns, genesisHash: state.genesisHash }
  const right = (blocks: typeof row) => checkRow({ blocks: blocks.map(encodeBlock), lots: [] }, checks).right
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
  expect(checkRow({ blocks: [Uint8Array.of(1)], lots: [] }, { ...checks, signature: () => true }).right).toBe(0)
})

/** Some blocks after a genesis, primary and secondary ones, over two epochs. */
function chainOf(count: number) {
  const genesis = genesisState(world.genesisOf(['ada', 'bob', 'cy'].map((name) => world.accountNamed(name))))
  let state = genesis
  const blocks = Array.from({ length: count }, (): Block => {
    const made = world.make(state, [])
    if ('problem' in made) throw new Error(made.problem.code)
    state = made.state
    return made.block
  })
  return { genesis, blocks, row: blocks.map(encodeBlock) }
}

test('proofs that were found right are not checked again when their blocks are applied', () => {
  const { genesis, blocks, row } = chainOf(19)
  const lots = lotsAfter(genesis, row)
  const { right, drawn } = checkRow({ blocks: row, lots }, { ...world.standIns, genesisHash: genesis.genesisHash })
  const primaries = blocks.filter(({ header }) => (header.kind & 1) === 0)
  expect(right).toBe(19)
  expect(drawn.length).toBe(primaries.length)
  expect(drawn.length).toBeGreaterThan(2)
  const asked: Uint8Array[] = []
  const counting: typeof world.standIns.vrf = (key, alpha, proof) => {
    asked.push(proof)
    return world.standIns.vrf(key, alpha, proof)
  }
  const apply = (known: typeof drawn) => {
    asked.length = 0
    let state = genesis
    for (const block of blocks) {
      const applied = applyBlock(state, block, checksKnowing({ ...world.standIns, vrf: counting }, known))
      if ('problem' in applied) return applied.problem.code
      state = applied.state
    }
    return asked.length
  }
  expect(apply(drawn)).toBe(0)
  expect(apply([])).toBe(primaries.length)
  // What was found for another key or another slot is worth nothing, whatever it says.
  const other = new Uint8Array(32)
  expect(apply(drawn.map((each) => ({ ...each, key: other, beta: new Uint8Array(64) })))).toBe(primaries.length)
  expect(apply(drawn.map((each) => ({ ...each, alpha: other, beta: new Uint8Array(64) })))).toBe(primaries.length)
})

test('a wrong proof is not among those that are right, and what lies too far ahead has no lot', () => {
  const { genesis, blocks, row } = chainOf(19)
  const at = blocks.findIndex(({ header }) => (header.kind & 1) === 0)
  const { header, body } = blocks[at]!
  const unsigned = { ...header, vrfProof: header.vrfProof.map((byte, i) => (i === 3 ? byte ^ 1 : byte)) }
  const sig = world.signAs(header.author, headerMessage(genesis.genesisHash, unsigned))
  const spoiled = row.map((bytes, i) => (i === at ? encodeBlock({ header: { ...unsigned, sig }, body }) : bytes))
  const checks = { ...world.standIns, genesisHash: genesis.genesisHash }
  const all = checkRow({ blocks: row, lots: lotsAfter(genesis, row) }, checks)
  const found = checkRow({ blocks: spoiled, lots: lotsAfter(genesis, spoiled) }, checks)
  expect(found.right).toBe(19)
  expect(found.drawn.length).toBe(all.drawn.length - 1)
  const far = { ...header, slot: 2n * genesis.params.epochSlots }
  expect(lotsAfter(genesis, [encodeBlock({ header: far, body }), Uint8Array.of(1)])).toEqual([null, null])
})
