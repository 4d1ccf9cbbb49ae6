import { describe, expect, test } from 'vitest'
import * as world from '../../../test/support/chainWorld.ts'
import { temporaryFolder } from '../../../test/support/temporaryFolder.ts'
import { signerFrom } from '../../core/bytes/ed25519.ts'
import { toHex } from '../../core/bytes/hex.ts'
import { makeBlock, SECONDARY } from '../../core/chain/applyBlock.ts'
import { type ChainState, etaOf } from '../../core/chain/chainState.ts'
import { genesisState, stateRoot } from '../../core/chain/genesisState.ts'
import { genesisHash } from '../../core/chain/genesisType.ts'
import { slotAlpha } from '../../core/chain/lottery.ts'
import { txMessage } from '../../core/chain/signing.ts'
import { encodeBlock } from '../../core/chain/ssz.ts'
import { TransferType } from '../../core/chain/transactions/payloads.ts'
import { openChainStore, openMemoryChain } from '../../drivers/chainStore/openChainStore.ts'
import { openVrf } from '../../drivers/sodium/openVrf.ts'
import type { ChainStore } from '../../ports/chainStore.ts'
import { LocalChain } from './localChain.ts'

const names = ['ada', 'bob', 'cyd', 'dan']
const [ada, bob] = names.map(world.keyNamed) as [Uint8Array, Uint8Array]
const genesis = world.genesisOf(names.map((name) => world.accountNamed(name)))
const start = genesisState(genesis)
const GENESIS = toHex(genesisHash(genesis))

interface MadeBlock {
  readonly bytes: Uint8Array
  readonly state: ChainState
}
/** The next block of a branch, with a transfer in it. */
function blockOn(state: ChainState, slot = state.view.slot + 1n, commit: Parameters<typeof world.make>[3] = []) {
  const tx = world.txOf(state, ada, 0, TransferType.serialize({ to: bob, amount: 1n + slot }))
  const made = world.make(state, [tx], slot, commit)
  if ('problem' in made) throw new Error(made.problem.code)
  return { bytes: encodeBlock(made.block), state: made.state, block: made.block }
}
/** A branch of blocks, one a slot. Every fourth records that its parent is final, where asked for. */
function branch(length: number, from: ChainState = start, isFinalising = false): MadeBlock[] {
  let state = from
  return Array.from({ length }, (_, i) => {
    const made = blockOn(state, undefined, isFinalising && i % 4 === 3 ? [world.commitOfHead(state)] : [])
    state = made.state
    return made
  })
}
const bytesOf = (blocks: readonly MadeBlock[]) => blocks.map(({ bytes }) => bytes)
const idOf = ({ state }: { readonly state: ChainState }) => toHex(state.head)

const deps = (store: ChainStore) => ({ genesis, store, checks: world.standIns, slotNow: () => 25 })
const freshNode = async () => {
  const store = await openMemoryChain(GENESIS)
  return { store, node: await LocalChain.open(deps(store)) }
}
const kinds = (results: readonly { kind: string }[]) => results.map(({ kind }) => kind)

describe('a node', () => {
  test('takes a chain, and one block more, to the state of their author', async () => {
    const { node } = await freshNode()
    const blocks = branch(13)
    expect(kinds(await node.importChain(bytesOf(blocks.slice(0, 12))))).toEqual(Array(12).fill('added'))
    expect(await node.importBlock(blocks[12]!.bytes)).toMatchObject({ kind: 'added', id: idOf(blocks[12]!) })
    expect(node.head).toMatchObject({ id: idOf(blocks[12]!), height: 13, slot: 13 })
    expect(stateRoot(await node.headState())).toEqual(stateRoot(blocks[12]!.state))
    expect(await node.importBlock(blocks[3]!.bytes)).toMatchObject({ kind: 'known' })
  })

  test.each([1, 5, 1_000])(
    'goes on from the store after a restart, with a state every %i blocks',
    async (stateEvery) => {
      const folder = `${temporaryFolder()}/chain`
      const blocks = branch(23, start, true)
      for (const [at, upTo] of [12, 17, 23].entries()) {
        const store = await openChainStore(folder, GENESIS)
        const node = await LocalChain.open({ ...deps(store), stateEvery })
        const from = [0, 12, 17][at]!
        expect(node.head.height).toBe(from)
        if (from > 0) expect(stateRoot(await node.headState())).toEqual(stateRoot(blocks[from - 1]!.state))
        expect(kinds(await node.importChain(bytesOf(blocks.slice(from, upTo))))).toEqual(
          Array(upTo - from).fill('added'),
        )
        expect(toHex(blocks[upTo - 1]!.state.view.final.hash)).toBe(node.final.id)
        await store.close()
      }
    },
  )

  test('follows the better branch there and back, also one that it must work out again from the store', async () => {
    const { node, store } = await freshNode()
    const trunk = branch(3)
    const [left, right] = [branch(4, trunk[2]!.state), branch(9, blockOn(trunk[2]!.state, 5n).state)]
    const fork = blockOn(trunk[2]!.state, 5n)
    await node.importChain(bytesOf([...trunk, ...left]))
    expect(node.head.id).toBe(idOf(left[3]!))
    const again = await LocalChain.open(deps(store))
    await again.importChain(bytesOf([fork, ...right]))
    expect(again.head.id).toBe(idOf(right[8]!))
    for (let height = 1; height <= again.head.height; height++)
      expect(await store.idAt(height)).toBe([...trunk, fork, ...right].map(idOf)[height - 1])
    expect(stateRoot(await again.headState())).toEqual(stateRoot(right[8]!.state))
  })

  test('never leaves what is final: a longer branch from before it is refused', async () => {
    const { node } = await freshNode()
    const blocks = branch(8, start, true)
    await node.importChain(bytesOf(blocks))
    expect(node.final.height).toBeGreaterThan(3)
    const rival = blockOn(blocks[0]!.state, 4n)
    expect(await node.importBlock(rival.bytes)).toEqual({
      kind: 'refused',
      problem: { code: 'OLD', where: 'header.parent' },
    })
    expect(node.head.id).toBe(idOf(blocks[7]!))
  })

  test('a commit on the lesser branch moves the head to it: voters have signed it', async () => {
    const { node } = await freshNode()
    const first = blockOn(start)
    const heavy = branch(6, first.state)
    const light = blockOn(first.state, 4n)
    const signed = blockOn(light.state, 5n, [world.commitOf(light.state, light.state.head, 4n)])
    await node.importChain(bytesOf([first, ...heavy]))
    await node.importChain([light.bytes, signed.bytes])
    expect([node.final.id, node.head.id]).toEqual([idOf(light), idOf(signed)])
  })
})

describe('what is not taken', () => {
  const [one, two, three] = branch(3) as [MadeBlock, MadeBlock, MadeBlock]
  const { block } = blockOn(one.state)
  const atSlot = (slot: bigint) => encodeBlock({ ...block, header: { ...block.header, slot } })
  const cases: readonly (readonly [string, Uint8Array, object])[] = [
    ['no bytes', new Uint8Array(0), { kind: 'refused', problem: { code: 'MALFORMED', where: 'block' } }],
    ['a byte too many', Uint8Array.of(...two.bytes, 0), { kind: 'refused', problem: { code: 'MALFORMED' } }],
    ['a block whose parent is missing', three.bytes, { kind: 'orphan', parent: idOf(two) }],
    ['a block of the next slot', atSlot(26n), { kind: 'early', slot: 26 }],
    ['a block of a far slot', atSlot(2n ** 64n - 1n), { kind: 'early' }],
    ['a block of the slot of its parent', atSlot(1n), { kind: 'refused', problem: { code: 'SLOT' } }],
    ['a block that somebody moved to another slot', atSlot(3n), { kind: 'refused', problem: { code: 'SIGNATURE' } }],
  ]
  test.each(cases)('%s', async (_, bytes, expected) => {
    const { node, store } = await freshNode()
    await node.importBlock(one.bytes)
    expect(await node.importBlock(bytes)).toMatchObject(expected)
    expect([node.head.id, store.head.id, (await store.above(0)).length]).toEqual([idOf(one), idOf(one), 1])
  })

  test('a byte that changed anywhere in a block: refused, nothing stored, and the true block is taken after it', async () => {
    const { node, store } = await freshNode()
    await node.importBlock(one.bytes)
    for (let at = 0; at < two.bytes.length; at += 7) {
      const bytes = two.bytes.map((byte, i) => (i === at ? byte ^ 0x40 : byte))
      expect(['refused', 'orphan', 'early']).toContain((await node.importBlock(bytes)).kind)
    }
    expect((await store.above(0)).length).toBe(1)
    expect(await node.importBlock(two.bytes)).toMatchObject({ kind: 'added' })
  })

  test('a wrong block in a row: those before it are kept, those after it not looked at', async () => {
    const { node, store } = await freshNode()
    const broken = two.bytes.map((byte, i) => (i === 200 ? byte ^ 1 : byte))
    expect(kinds(await node.importChain([one.bytes, broken, three.bytes]))).toEqual(['added', 'refused'])
    expect(store.head.id).toBe(idOf(one))
  })

  test('a write that fails leaves the node as it was, and the block is taken once there is room', async () => {
    const store = await openMemoryChain(GENESIS)
    let isFull = false
    const write: ChainStore['write'] = async (all) => {
      if (isFull) throw new Error('no space')
      await store.write(all)
    }
    const failing = Object.create(store, { write: { value: write } }) as ChainStore
    const node = await LocalChain.open(deps(failing))
    await node.importBlock(one.bytes)
    isFull = true
    await expect(node.importChain([two.bytes, three.bytes])).rejects.toThrow('no space')
    expect([node.head.id, toHex((await node.headState()).head)]).toEqual([idOf(one), idOf(one)])
    isFull = false
    expect(kinds(await node.importChain([two.bytes, three.bytes]))).toEqual(['added', 'added'])
  })

  test('a store whose blocks do not lead to its head says so', async () => {
    const { node, store } = await freshNode()
    await node.importChain(bytesOf([one, two]))
    const other = Object.create(store, { block: { value: async () => one.bytes } }) as ChainStore
    await expect(LocalChain.open(deps(other))).rejects.toMatchObject({ detail: { code: 'CHAIN_NOT_REPLAYED' } })
  })
})

test('with the real cryptography: signatures, the lottery and keys of a block are checked, and one bit is enough', async () => {
  const library = await openVrf()
  const signer = signerFrom(world.keyNamed('secret'))
  const vrfKey = library.vrf.keyFrom(world.keyNamed('vrf secret'))
  const owner = world.accountNamed('', { key: signer.publicKey, vrfKey: vrfKey.publicKey })
  const alone = world.genesisOf([owner], { authorities: [] })
  const checks = {
    ...{ signature: library.checkSignature, vrf: library.vrf.verify, key: library.isAccountKey },
    patch: () => false,
    terms: () => false,
    live: () => true,
  }
  const store = await openMemoryChain(toHex(genesisHash(alone)))
  const node = await LocalChain.open({ genesis: alone, store, checks, slotNow: () => 25 })
  let state = genesisState(alone)
  let primary = 0
  for (let slot = 1n; slot < 20n; slot++) {
    const unsigned = world.txOf(state, signer.publicKey, 0, TransferType.serialize({ to: bob, amount: slot }))
    const tx = { ...unsigned, sig: signer.sign(txMessage(state.genesisHash, unsigned)) }
    const alpha = slotAlpha(state.genesisHash, etaOf(state.view, slot / 10n), slot)
    const draft = { slot, author: signer.publicKey, body: { txs: [tx], commit: [] } }
    // It is alone, so it wins a slot in four; the others are its own as the second.
    const first = { ...draft, kind: 0, vrfProof: vrfKey.prove(alpha) }
    const second = { ...draft, kind: SECONDARY, vrfProof: new Uint8Array(80) }
    const won = makeBlock(state, first, signer.sign, checks)
    const made = 'block' in won ? won : makeBlock(state, second, signer.sign, checks)
    if ('problem' in made) throw new Error(made.problem.code)
    primary += 'block' in won ? 1 : 0
    const { header, body } = made.block
    const flipped = (bytes: Uint8Array, at: number) => bytes.map((byte, i) => (i === at ? byte ^ 1 : byte))
    const badSeal = { header: { ...header, sig: flipped(header.sig, 40) }, body }
    const refusal = { kind: 'refused', problem: { code: 'SIGNATURE' } }
    expect(await node.importBlock(encodeBlock(badSeal))).toMatchObject(refusal)
    expect(await node.importBlock(encodeBlock(made.block))).toMatchObject({ kind: 'added' })
    state = made.state
  }
  expect(primary).toBeGreaterThan(0)
  const unsigned = world.txOf(state, signer.publicKey, 0, TransferType.serialize({ to: bob, amount: 1n }))
  const sealed = { slot: 20n, author: signer.publicKey, kind: SECONDARY, vrfProof: new Uint8Array(80) }
  const trusting = { ...checks, envelopesChecked: true }
  const forged = makeBlock(state, { ...sealed, body: { txs: [unsigned], commit: [] } }, signer.sign, trusting)
  if ('problem' in forged) throw new Error(forged.problem.code)
  expect(await node.importBlock(encodeBlock(forged.block))).toEqual({
    kind: 'refused',
    problem: { code: 'SIGNATURE', where: 'body.txs[0].sig' },
  })
})
