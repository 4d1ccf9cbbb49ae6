import { describe, expect, test } from 'vitest'
import { NodeWorld, nodesOfTest } from '../../../test/support/chainNodes.ts'
import { library } from '../../../test/support/vrfLibrary.ts'
import { toHex } from '../../core/bytes/hex.ts'
import { findAccount, located } from '../../core/chain/chainState.ts'
import { signedVote, spelledVote } from '../../core/chain/consensus/vote.ts'
import { devnetKeys } from '../../core/chain/devnetGenesis.ts'
import { type ProblemCode, problem } from '../../core/chain/problems.ts'
import { balanceOf } from '../../core/chain/purse.ts'
import { PRECOMMIT, PREVOTE } from '../../core/chain/recordCommit.ts'
import { txBytes, txMessage, voteMessage } from '../../core/chain/signing.ts'
import { signTx } from '../../core/chain/signTx.ts'
import { type Tx, TxType } from '../../core/chain/ssz.ts'
import { TransferType } from '../../core/chain/transactions/payloads.ts'
import { decodeQuorum, encodeQuorum, encodeVote } from '../../core/chain/wire/messages.ts'
import { ASKS_ONLY, type Network } from '../../ports/network.ts'
import { makeOwnBlock, rightTo, stateAtSlot } from './blockMaker.ts'
import { evidenceOfVotes } from './evidence.ts'
import { Inbox } from './inbox.ts'

const NONE = new Uint8Array(0)
const nodes = nodesOfTest()

/** Three of four authorities run; the fourth is the attacker, who talks to them as any node would. */
async function attacked() {
  const world = new NodeWorld(4)
  for (const account of [0, 1, 2]) nodes.push(await world.start(account))
  const attacker = await world.hub.join(ASKS_ONLY, 'attacker')
  const keys = devnetKeys(3, library.vrf)
  await world.pass(4)
  return { world, attacker, keys, node: nodes[0]! }
}

const isCutOff = (attacker: Network) => attacker.peers().length === 0

const signedTx = (world: NodeWorld, index: number, more: Partial<Tx>) => {
  const { signer } = devnetKeys(index, library.vrf)
  const lastSlot = BigInt(nodes[0]!.slot + 8)
  const payload = TransferType.serialize({ to: devnetKeys(8, library.vrf).signer.publicKey, amount: 1_000n })
  const none = { sig: new Uint8Array(64), payerSig: [], payer: [] }
  const blank = { kind: 0, account: signer.publicKey, nonce: 0n, fee: 0n, lastSlot, payload, ...none, ...more }
  const tx = { ...blank, fee: 1_000n * BigInt(txBytes(blank)) }
  return { ...tx, sig: signer.sign(txMessage(Buffer.from(world.genesisId, 'hex'), tx)) }
}

/** One node of four, two votes of a round by each of two others, and whether that was their last word. */
async function withLiars() {
  const world = new NodeWorld(4)
  const node = await world.start(0)
  nodes.push(node)
  await world.pass(3)
  const { genesisHash } = await node.headState()
  const signers = [1, 2].map((index) => devnetKeys(index, library.vrf).signer)
  const round = Math.floor(node.slot / 2)
  const liars = signers.map((signer) => {
    const voteFor = (target: string) => {
      const of = { kind: PREVOTE, set: 0, round, target, targetSlot: 1, late: false, lockRound: 0 } as const
      const unsigned = { ...of, voter: toHex(signer.publicKey) }
      return signedVote(unsigned, signer.sign(voteMessage(genesisHash, spelledVote(unsigned))))
    }
    return [voteFor('aa'.repeat(32)), voteFor('bb'.repeat(32))] as const
  })
  const jailed = async () => {
    const state = await node.headState()
    const places = signers.map(({ publicKey }) => findAccount(located(state), publicKey))
    return places.map((place) => state.view.accounts.jailedUntil.get(place) > 0n)
  }
  return { world, node, liars, jailed }
}

describe('attack 24 over the wire', () => {
  test('two blocks of one slot: both are taken, and the bond of their author is cut', async () => {
    const { world, attacker, keys, node } = await attacked()
    let blocks: Uint8Array[] = []
    while (blocks.length < 2) {
      await world.pass(1)
      const slot = BigInt(node.slot)
      const state = await node.headState()
      if (state.view.slot >= slot) continue
      const right =
        rightTo(stateAtSlot(state, slot), keys, slot, true) ?? rightTo(stateAtSlot(state, slot), keys, slot, false)
      if (right === null) continue
      const order = { state, slot, right, keys, commits: [], checks: world.checks }
      blocks = [[], [signedTx(world, 3, {})]].map((txs) => makeOwnBlock({ ...order, txs })!.bytes)
    }
    const before = (await node.headState()).view.accounts.bond
    for (const bytes of blocks) await attacker.publish('blocks', bytes)
    await world.pass(6)
    const state = await node.headState()
    const place = findAccount(located(state), keys.signer.publicKey)
    expect(state.view.accounts.bond.get(place)).toBeLessThan(before.get(place))
    expect(state.view.accounts.jailedUntil.get(place)).toBeGreaterThan(0n)
    expect(new Set(nodes.map(({ head }) => head.id)).size).toBe(1)
  })

  test('what proves an offence waits behind nothing of the account that is too late', async () => {
    const { world, node, liars, jailed } = await withLiars()
    const [own, { genesisHash, params }] = [devnetKeys(0, library.vrf).signer, await node.headState()]
    const slot = BigInt(node.slot)
    const payload = TransferType.serialize({ to: own.publicKey, amount: 1n })
    const late = { kind: 0, payload, nonce: await node.nextNonce(own.publicKey), lastSlot: slot }
    expect((await node.submit(signTx(own, late, { genesisHash, ...params, slot }))).kind).toBe('taken')
    await world.pass(1)
    await node.reportOffence(evidenceOfVotes(liars[0]!))
    await world.pass(12)
    expect(await jailed()).toEqual([true, false])
  })

  test('attack 382: of those who are caught at once none goes free', async () => {
    const { world, node, liars, jailed } = await withLiars()
    await Promise.all(liars.map((votes) => node.reportOffence(evidenceOfVotes(votes))))
    await world.pass(12)
    expect(await jailed()).toEqual([true, true])
  })

  test('malformed messages, forged votes and commits, blocks of the future: none is forwarded, and the sender is cut off', async () => {
    const { world, attacker, keys, node } = await attacked()
    const { head, final } = node
    const round = Math.floor(node.slot / 2)
    const set = Math.floor(final.slot / 10)
    const shared = { kind: PRECOMMIT, set, round, target: head.id, targetSlot: head.slot, late: false } as const
    const vote = signedVote({ ...shared, lockRound: round, voter: toHex(keys.signer.publicKey) }, new Uint8Array(64))
    await attacker.publish('votes', encodeVote(vote))
    await attacker.publish('commits', encodeQuorum({ ...shared, votes: [vote] }))
    for (let i = 0; i < 12; i++) await attacker.publish('blocks', Uint8Array.of(i))
    await world.pass(1)
    expect(isCutOff(attacker)).toBe(true)
    await world.pass(6)
    expect(node.final.height).toBeGreaterThan(final.height)
  })

  test('attack 355: no signature of a quorum by strangers, or of a round of years ahead, is looked at, and none goes on', async () => {
    const world = new NodeWorld(1)
    const fields = { kind: PREVOTE, set: 0, target: 'ee'.repeat(32), targetSlot: 5, late: false, lockRound: 0 } as const
    const looked: Uint8Array[] = []
    const signature: typeof world.checks.signature = (sig, ...rest) => {
      looked.push(sig)
      return world.checks.signature(sig, ...rest)
    }
    const node = await world.start(0, undefined, { checks: { ...world.checks, signature } })
    nodes.push(node)
    const heard: string[] = []
    const onMessage = async (topic: string, data: Uint8Array) => {
      if (topic === 'commits' && decodeQuorum(data)?.target === fields.target) heard.push(topic)
      return 'ignore' as const
    }
    await world.hub.join({ ...ASKS_ONLY, onMessage }, 'bystander')
    const attacker = await world.hub.join(ASKS_ONLY, 'attacker', ['node-0'])
    const mark = new Uint8Array(64).fill(7)
    const by = (index: number, round: number) =>
      signedVote({ ...fields, round, voter: toHex(devnetKeys(index, library.vrf).signer.publicKey) }, mark)
    await world.pass(5)
    for (const [round, voters] of [
      [3, [4, 5, 6]],
      [3, [5, 4, 6]],
      [3, []],
      [1_000_000, [0]],
    ] as const) {
      const votes = voters.map((index) => by(index, round))
      await attacker.publish('commits', encodeQuorum({ ...fields, round, votes }))
    }
    await world.pass(1)
    expect([heard, looked.filter((sig) => sig[0] === 7 && sig[1] === 7)]).toEqual([[], []])
  })

  test('two commits that exclude each other: the node says so and stops', async () => {
    const { world, attacker, node } = await attacked()
    const seen: string[] = []
    node.subscribe(({ kind }) => seen.push(kind))
    await world.pass(6)
    const set = Math.floor(node.final.slot / 10)
    const round = Math.floor(node.slot / 2)
    const target = 'ee'.repeat(32)
    const shared = { kind: PRECOMMIT, set, round, target, targetSlot: node.final.slot, late: false } as const
    const votes = [0, 1, 2].map((index) => {
      const { signer } = devnetKeys(index, library.vrf)
      const unsigned = { ...shared, lockRound: round, voter: toHex(signer.publicKey) }
      const message = voteMessage(Buffer.from(world.genesisId, 'hex'), spelledVote(unsigned))
      return signedVote(unsigned, signer.sign(message))
    })
    // Of equals the lower key comes first in a set.
    votes.sort((a, b) => (a.voter < b.voter ? -1 : 1))
    await attacker.publish('commits', encodeQuorum({ ...shared, votes }))
    await expect(node.ended()).rejects.toMatchObject({
      detail: { code: 'CHAIN_CONFLICT', other: target },
      nextStep: expect.stringContaining('--checkpoint'),
    })
    expect([node.status().isHalted, seen.at(-1)]).toEqual([true, 'halted'])
    const { height } = node.head
    await world.pass(3)
    expect(node.head.height).toBe(height)
  })
})

test("attack 25 over the wire: another's funds, altered and replayed payments change nothing, an honest one arrives once", async () => {
  const { world, attacker, node } = await attacked()
  const balance = async () => {
    const state = await node.headState()
    return balanceOf(state.view.accounts, findAccount(located(state), devnetKeys(8, library.vrf).signer.publicKey))
  }
  const before = await balance()
  const honest = signedTx(world, 7, {})
  const payload = TransferType.serialize({ to: devnetKeys(8, library.vrf).signer.publicKey, amount: 999_999n })
  const forged = [
    { ...honest, payload },
    { ...honest, account: devnetKeys(6, library.vrf).signer.publicKey },
    { ...honest, nonce: 1n },
  ]
  for (const tx of [...forged, honest, honest]) await attacker.publish('txs', TxType.serialize(tx))
  await world.pass(4)
  await attacker.publish('txs', TxType.serialize(honest))
  expect(await node.submit(TxType.serialize(honest))).not.toMatchObject({ kind: 'taken' })
  await world.pass(4)
  expect((await balance()) - before).toBe(1_000n)
})

test('attack 362: who forwards is blamed for the bytes and the envelope of a transaction alone', async () => {
  const judged = async (code: ProblemCode, where: string) => {
    const node = { offer: async () => ({ kind: 'refused', problem: problem(code, where) }) }
    return await new Inbox({ node } as unknown as ConstructorParameters<typeof Inbox>[0]).take('txs', NONE, 'peer')
  }
  for (const [code, where] of [
    ['MALFORMED', 'payload'],
    ['UNKNOWN_KIND', 'kind'],
    ['SIGNATURE', 'sig'],
    ['SIGNATURE', 'payerSig'],
  ] as const)
    expect(await judged(code, where)).toBe('reject')
  for (const [code, where] of [
    ['SIGNATURE', 'payload.boxSig'],
    ['SIGNATURE', 'payload.entries[0].boxSig'],
    ['KEY', 'payload.box'],
    ['NONCE', 'nonce'],
  ] as const)
    expect(await judged(code, where)).toBe('ignore')
})
