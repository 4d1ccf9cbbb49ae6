import { afterEach, beforeAll, describe, expect, test } from 'vitest'
import { NodeWorld } from '../../../test/support/chainNodes.ts'
import { openVrf } from '../../drivers/sodium/openVrf.ts'
import type { VrfLibrary } from '../../ports/vrf.ts'
import type { RunningNode } from './node.ts'

let library: VrfLibrary
beforeAll(async () => {
  library = await openVrf()
})
let nodes: RunningNode[] = []
afterEach(async () => {
  await Promise.all(nodes.map((node) => node.close()))
  nodes = []
})
const started = async (world: NodeWorld, accounts: readonly (number | null)[]) => {
  for (const account of accounts) nodes.push(await world.start(account))
  return nodes
}

describe('nodes on a virtual clock, with real signatures and VRF proofs', () => {
  test('one alone makes a block a slot and finds them final', async () => {
    const world = new NodeWorld(library, 1)
    const [node] = await started(world, [0])
    await world.pass(30)
    expect(node!.head.height).toBeGreaterThanOrEqual(29)
    expect(node!.final.height).toBeGreaterThan(24)
    expect(world.logged).toEqual([])
  })

  test('four agree on one chain, and a late joiner catches up', async () => {
    const world = new NodeWorld(library, 4)
    await started(world, [0, 1, 2, 3])
    await world.pass(45)
    expect(nodes[0]!.final.height).toBeGreaterThan(30)
    const late = await world.start(null)
    nodes.push(late)
    await world.pass(10)
    expect(new Set(nodes.map(({ final }) => final.id)).size).toBe(1)
    expect(late.final.slot).toBeGreaterThan(45)
    expect(world.logged).toEqual([])
  })
})
