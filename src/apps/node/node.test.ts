import { describe, expect, test } from 'vitest'
import { NodeWorld, nodesOfTest } from '../../../test/support/chainNodes.ts'
import { toHex } from '../../core/bytes/hex.ts'
import type { Checks } from '../../core/chain/chainState.ts'
import { type CheckedRow, checkRow, type RowToCheck } from '../../core/chain/envelopes.ts'
import { genesisHash } from '../../core/chain/genesisType.ts'
import type { ChainStore } from '../../ports/chainStore.ts'
import type { NetworkHandlers } from '../../ports/network.ts'
import type { NodeDeps, RunningNode } from './node.ts'
import { startFromCheckpoint } from './startFromCheckpoint.ts'

const nodes = nodesOfTest()
const started = async (world: NodeWorld, accounts: readonly (number | null)[]) => {
  for (const account of accounts) nodes.push(await world.start(account))
  return nodes
}

describe('nodes on a virtual clock, with real signatures and VRF proofs', () => {
  test('one alone makes a block a slot and finds them final', async () => {
    const world = new NodeWorld(1)
    const [node] = await started(world, [0])
    await world.pass(20)
    expect(node!.head.height).toBeGreaterThanOrEqual(19)
    expect(node!.final.height).toBeGreaterThan(15)
    expect(world.logged).toEqual([])
  })

  test('four agree on one chain, and a late joiner catches up', async () => {
    const world = new NodeWorld(4)
    await started(world, [0, 1, 2, 3])
    await world.pass(24)
    expect(nodes[0]!.final.height).toBeGreaterThan(12)
    const late = await world.start(null)
    nodes.push(late)
    await world.pass(10)
    expect(new Set(nodes.map(({ final }) => final.id)).size).toBe(1)
    expect(late.final.slot).toBeGreaterThan(15)
    expect(world.logged).toEqual([])
  })
})

describe('a checker on another thread', () => {
  test('spares the node its signatures and known proofs; one that is lost costs time and nothing else', async () => {
    const world = new NodeWorld(1)
    await started(world, [0])
    await world.pass(24)
    const found: CheckedRow[] = []
    const checks = { ...world.checks, genesisHash: genesisHash(world.genesis) }
    const check = async (row: RowToCheck) => {
      found.push(checkRow(row, checks))
      return found.at(-1)!
    }
    const asked: string[] = []
    const counting: Checks = {
      ...world.checks,
      vrf: (key, alpha, proof) => {
        asked.push(toHex(proof))
        return world.checks.vrf(key, alpha, proof)
      },
    }
    const close = async () => {}
    const lost = { check: () => Promise.reject(new Error('the thread has ended')), close }
    const join = (name: string, more: Partial<NodeDeps>) =>
      world.start(null, undefined, { ...more, connect: (handlers) => world.hub.join(handlers, name) })
    nodes.push(await join('spared', { checks: counting, checker: { check, close } }))
    nodes.push(await join('without', { checker: lost }))
    await world.pass(3)
    const at = nodes[0]!.final.height - 2
    expect(at).toBeGreaterThan(20)
    expect(new Set(await Promise.all(nodes.map((node) => node.idAt(at)))).size).toBe(1)
    const drawn = found.flatMap((row) => row.drawn.map(({ proof }) => toHex(proof)))
    expect([found[0]!.right > 20, drawn.length > 0]).toEqual([true, true])
    expect(asked.filter((proof) => drawn.includes(proof))).toEqual([])
    expect(world.logged).toEqual([])
  })
})

describe('what a node knows', () => {
  test('is there again after a restart: votes, locks and commits that no block records', async () => {
    const world = new NodeWorld(4)
    const stores = await Promise.all([0, 1, 2, 3].map(() => world.store()))
    for (const [account, store] of stores.entries()) nodes.push(await world.start(account, store))
    const finals: string[] = []
    for (let life = 0; life < 3; life++) {
      await world.pass(7)
      finals.push(nodes[0]!.final.id)
      // All at once, as in a power cut: nobody is left to ask.
      await Promise.all(nodes.splice(0).map((node) => node.close()))
      for (const [account, store] of stores.entries()) nodes.push(await world.start(account, store))
    }
    await world.pass(8)
    const [node] = nodes
    expect(new Set(nodes.map(({ final }) => final.id)).size).toBe(1)
    for (const id of finals) expect(await node!.idAt((await node!.facts(id))!.height)).toBe(id)
    expect(node!.final.slot).toBeGreaterThan(24)
    // Nobody was caught with two votes of a round, or against its lock.
    expect(world.logged).toEqual([])
  })

  test('halves that were apart agree again, and what was final stays', async () => {
    const world = new NodeWorld(4)
    await started(world, [0, 1, 2, 3])
    await world.pass(7)
    const before = nodes[0]!.final
    world.hub.part((id) => (id === 'node-0' || id === 'node-1' ? 1 : 2))
    await world.pass(9)
    expect(nodes[0]!.head.id).not.toBe(nodes[3]!.head.id)
    const apart = nodes.map(({ final }) => final.slot)
    expect(Math.max(...apart)).toBeLessThan(before.slot + 5)
    world.hub.part(() => 0)
    await world.pass(12)
    expect(new Set(nodes.map(({ final }) => final.id)).size).toBe(1)
    expect(nodes[0]!.final.slot).toBeGreaterThan(16)
    expect(await nodes[3]!.idAt(before.height)).toBe(before.id)
    expect(world.logged).toEqual([])
  })
})

describe('a checkpoint', () => {
  const fetched = async (world: NodeWorld, store: ChainStore, id: string) =>
    await startFromCheckpoint(
      {
        ...{ genesis: world.genesis, store, clock: world.clock, id },
        connect: (handlers) => world.hub.join(handlers, 'newcomer'),
      },
      new AbortController().signal,
    )
  const aged = async () => {
    const world = new NodeWorld(1)
    nodes.push(await world.start(0, undefined, { stateEvery: 5 }))
    await world.pass(16)
    return { world, node: nodes[0]! }
  }

  test('begins a chain: the state is checked against the block that people named', async () => {
    const { world, node } = await aged()
    const start = (await node.checkpoint())!
    const store = await world.store()
    await fetched(world, store, start.id)
    expect([store.head.id, store.head.height]).toEqual([start.id, start.height])
    const late = await world.start(null, store)
    nodes.push(late)
    await world.pass(6)
    expect(late.final.height).toBeGreaterThan(start.height)
    expect(await late.idAt(late.final.height)).toBe(await node.idAt(late.final.height))
    expect(await late.block((await node.idAt(start.height - 1))!)).toBeNull()
  })

  test('that nobody has, or that is older than a week, begins nothing', async () => {
    const { world, node } = await aged()
    const store = await world.store()
    await expect(fetched(world, store, 'ee'.repeat(32))).rejects.toMatchObject({
      detail: { code: 'CHECKPOINT_NOT_FOUND' },
    })
    const start = (await node.checkpoint())!
    world.clock.jumpWall(1_800_000)
    await expect(fetched(world, store, start.id)).rejects.toMatchObject({ detail: { code: 'CHECKPOINT_TOO_OLD' } })
    expect(store.head.height).toBe(0)
  })
})

test('attack 272: a folder that follows another past is not taken for one that people vouch for', async () => {
  const world = new NodeWorld(1)
  const store = await world.store()
  const node = await world.start(0, store, { stateEvery: 5 })
  nodes.push(node)
  await world.pass(16)
  const begin = (id: string) =>
    startFromCheckpoint(
      { genesis: world.genesis, store, clock: world.clock, id, connect: () => Promise.reject(new Error('nobody')) },
      new AbortController().signal,
    )
  await begin((await node.checkpoint())!.id)
  await expect(begin('ee'.repeat(32))).rejects.toMatchObject({ detail: { code: 'CHECKPOINT_ELSEWHERE' } })
})

describe('attack 24: a newcomer that is shown two branches without anything final on them', () => {
  /** Two of four make a dense branch and stop; one alone goes on for long and has more score in the end. */
  async function twoBranches() {
    const world = new NodeWorld(4)
    const store = await world.store()
    const dense = [await world.start(0, store), await world.start(1)]
    const alone = await world.start(2)
    nodes.push(alone)
    world.hub.part((id) => (id === 'node-2' ? 1 : 0))
    await world.pass(30)
    await Promise.all(dense.map((node) => node.close()))
    const head = dense[0]!.head
    await world.pass(90)
    const shows = await world.start(null, store, { connect: (handlers) => world.hub.join(handlers, 'dense', []) })
    nodes.push(shows)
    world.hub.part(() => 0)
    const join = async (own: ChainStore, near: readonly string[]) => {
      const connect = (handlers: NetworkHandlers) => world.hub.join(handlers, `newcomer of ${near}`, near)
      const node = await world.start(null, own, { connect })
      nodes.push(node)
      await world.pass(3)
      return node
    }
    return { world, head, alone, join }
  }

  const scoreOf = async (node: RunningNode) => {
    let score = 0
    for (let at = node.head; at.height > 0; at = (await node.facts(at.parent))!) score += at.win === null ? 1 : 4
    return score
  }

  test('follows the denser one, whoever it asks first, and after a restart', async () => {
    const { world, head, alone, join } = await twoBranches()
    expect([alone.final.height, head.height > 10]).toEqual([0, true])
    for (const order of [
      ['node-2', 'dense'],
      ['dense', 'node-2'],
    ]) {
      const store = await world.store()
      const newcomer = await join(store, order)
      const shown = await newcomer.facts(alone.head.id)
      expect(newcomer.head.id).toBe(head.id)
      // It has seen the other one, which has more score.
      expect(shown).not.toBeNull()
      expect(await scoreOf(alone)).toBeGreaterThan(await scoreOf(newcomer))
      nodes.splice(nodes.indexOf(newcomer), 1)
      await newcomer.close()
      const again = await join(store, [])
      expect(again.head.id).toBe(head.id)
    }
    // Who was asked alone knows no better.
    expect((await join(await world.store(), ['node-2'])).head.author).toBe(alone.head.author)
  })
})
