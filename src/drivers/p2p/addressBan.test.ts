import { randomBytes } from 'node:crypto'
import { expect, onTestFinished, test } from 'vitest'
import { Listener } from '../../../test/suites/networkSuite.ts'
import { eventually } from '../../../test/support/eventually.ts'
import { MOST_BANNED_NAMES, MOST_FAULTS } from '../../ports/network.ts'
import { openLibp2pNetwork } from './libp2pNetwork.ts'

// All of them are on this machine, which is spared: here it counts as an address like any other.
const addressOf = () => '203.0.113.9'
const shared = { addressOf, genesisId: 'ab'.repeat(32), genesisBytes: Uint8Array.of(1), host: '127.0.0.1', port: 0 }

async function open(bootstrap: readonly string[]): Promise<Listener> {
  const node = new Listener()
  node.network = await openLibp2pNetwork({ ...shared, isDiscovering: false, secret: randomBytes(32), bootstrap }, node)
  onTestFinished(() => node.network.close())
  return node
}

test('attack 24: a new name does not help an address that was cut off', async () => {
  const target = await open([])
  target.answer = () => null
  const bystander = await open(target.network.addresses)
  await eventually(() => bystander.network.peers().length > 0)
  for (let i = 0; i < MOST_BANNED_NAMES; i++) {
    const sender = await open(target.network.addresses)
    await eventually(() => target.network.peers().includes(sender.network.id))
    for (let fault = 0; fault < MOST_FAULTS; fault++)
      await sender.network.request(target.network.id, Uint8Array.of(9), { mostBytes: 9, timeoutMs: 2_000 })
    await eventually(() => !target.network.peers().includes(sender.network.id))
    await sender.network.close()
  }
  // Whoever else comes from there is cut off with them, and a name that was never seen is not let in.
  await eventually(() => target.network.peers().length === 0)
  const fresh = await open(target.network.addresses)
  const answer = await fresh.network.request(target.network.id, Uint8Array.of(0), { mostBytes: 9, timeoutMs: 500 })
  expect(answer).toBeNull()
  expect([target.met.includes(fresh.network.id), target.network.peers()]).toEqual([false, []])
})
