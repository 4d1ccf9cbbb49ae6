import { describe, expect, test } from 'vitest'
import { NodeWorld, nodesOfTest } from '../../../test/support/chainNodes.ts'
import { VirtualClock } from '../../../test/support/virtualClock.ts'
import { signedVote } from '../../core/chain/consensus/vote.ts'
import { PRECOMMIT } from '../../core/chain/recordCommit.ts'
import { encodeVote } from '../../core/chain/wire/messages.ts'
import { decodeQuestion, encodeBlocks, encodeQuorums, encodeStatus } from '../../core/chain/wire/requests.ts'
import type { StoredBlock } from '../../ports/chainStore.ts'
import { ASKS_ONLY, type Network } from '../../ports/network.ts'
import type { Import } from './localChain.ts'
import { Syncer } from './syncer.ts'

const nodes = nodesOfTest()

const FAR = { id: 'ab'.repeat(32), slot: 900, height: 1_000_000 }
const GENESIS = 'cd'.repeat(32)
const HERE = { id: 'ef'.repeat(32), slot: 99, height: 99 } as StoredBlock

describe('attack 329: a peer that only says that it is ahead', () => {
  test('stops no authority, however often it has itself asked', async () => {
    const world = new NodeWorld(3)
    for (const account of [0, 1, 2]) nodes.push(await world.start(account))
    await world.pass(20)
    const [node] = nodes
    const onRequest = async (bytes: Uint8Array) => {
      const kind = decodeQuestion(bytes)?.kind
      const { final, slot } = node!
      if (kind === 'status') return encodeStatus({ genesis: world.genesisId, final, head: { ...FAR, slot } })
      if (kind === 'blocks') await world.clock.sleep(9_900)
      return kind === 'blocks' ? encodeBlocks([]) : encodeQuorums([])
    }
    const stranger = await world.hub.join({ ...ASKS_ONLY, onRequest }, 'stranger')
    const { height } = node!.head
    let waited = 0
    for (let targetSlot = 0; targetSlot < 30; targetSlot++) {
      const round = Math.floor(node!.slot / 2)
      const of = { kind: PRECOMMIT, set: 1_000_000, round, target: FAR.id, targetSlot, late: false } as const
      const vote = signedVote({ ...of, lockRound: round, voter: 'ee'.repeat(32) }, new Uint8Array(64))
      await stranger.publish('votes', encodeVote(vote))
      await world.pass(1)
      waited += nodes.filter((each) => each.status().isSyncing).length
    }
    expect(waited).toBe(0)
    expect(node!.head.height - height).toBeGreaterThanOrEqual(28)
  })

  test('is waited for after the start, for a while, and is not asked again soon', async () => {
    const { clock, syncer, asked, reported } = world({ liar: () => clock.sleep(9_000).then(() => []) })
    for (const begins of [true, false]) {
      const run = syncer.withPeer('liar')
      await clock.sleep(1_000)
      expect(syncer.isBehind).toBe(begins)
      await run
      expect(syncer.isBehind).toBe(false)
      await clock.sleep(9_000)
      const before = asked.length
      await syncer.withPeer('liar')
      expect(asked.length).toBe(before)
      await clock.sleep(2_000)
    }
    // Twice as long the second time.
    const before = asked.length
    await syncer.withPeer('liar')
    expect(asked.length).toBe(before)
    await clock.sleep(9_000)
    await syncer.withPeer('liar')
    expect(asked.length).toBeGreaterThan(before)
    expect(reported).toEqual(['liar', 'liar', 'liar'])
  })

  test('keeps nobody else from being asked for long', async () => {
    const { clock, syncer, asked } = world({ liar: () => new Promise(() => {}), honest: async () => [] })
    void syncer.withPeer('liar')
    void syncer.withPeer('honest')
    await clock.sleep(4_000)
    expect(asked).toEqual(['liar', 'honest'])
  })
})

test('a node makes no block while a peer brings what it missed long ago; what is of now shows nothing', async () => {
  for (const slot of [10, 99]) {
    const rows = [Array(5).fill(Uint8Array.of(slot)), Array(5).fill(Uint8Array.of(slot))]
    const answer = () => clock.sleep(2_000).then(() => rows.shift() ?? [])
    const { clock, syncer, reported } = world({ peer: answer })
    await clock.sleep(20_000)
    const run = syncer.withPeer('peer')
    await clock.sleep(1_000)
    expect(syncer.isBehind).toBe(false)
    await clock.sleep(2_000)
    expect(syncer.isBehind).toBe(slot === 10)
    await run
    expect([syncer.isBehind, reported]).toEqual([false, []])
  }
})

/** Peers that say they are far ahead, and what they answer when they are asked for blocks; the first byte is the slot. */
function world(peers: Record<string, () => Promise<readonly Uint8Array[]>>) {
  const clock = new VirtualClock()
  const asked: string[] = []
  const reported: string[] = []
  const network = {
    peers: () => Object.keys(peers),
    report: (peer: string) => void reported.push(peer),
    request: async (peer: string, bytes: Uint8Array) => {
      if (decodeQuestion(bytes)?.kind === 'status') return encodeStatus({ genesis: GENESIS, final: HERE, head: FAR })
      asked.push(peer)
      return encodeBlocks(await peers[peer]!())
    },
  } as Partial<Network> as Network
  const added = ([slot]: Uint8Array) => ({ kind: 'added', facts: { slot } }) as Import
  const target = {
    ...{ genesisId: GENESIS, slot: 100, head: HERE, final: HERE, has: async () => false, lotsOf: () => [] },
    take: async (row: readonly Uint8Array[]) => row.map(added),
    ...{ takeQuorum: async () => {}, onPeerSlot: () => {} },
  }
  const syncer = new Syncer({ network, target, clock, epochSlots: 10, checker: null })
  return { clock, syncer, asked, reported }
}
