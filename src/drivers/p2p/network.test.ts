import { randomBytes } from 'node:crypto'
import { createServer } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { Listener, networkSuite } from '../../../test/suites/networkSuite.ts'
import { eventually } from '../../../test/support/eventually.ts'
import { genesisFromPeer } from './genesisFromPeer.ts'
import { openLibp2pNetwork } from './libp2pNetwork.ts'
import { MemoryHub } from './memoryHub.ts'
import { peerAddress } from './peerAddress.ts'

const options = {
  genesisId: 'ab'.repeat(32),
  genesisBytes: Uint8Array.of(1, 2, 3),
  host: '127.0.0.1',
  port: 0,
  isDiscovering: false,
}
const hub = new MemoryHub()
networkSuite('in one process', (handlers, near) => {
  return hub.join(
    handlers,
    undefined,
    near.map(({ id }) => id),
  )
})
networkSuite('libp2p', (handlers, near) =>
  openLibp2pNetwork(
    { ...options, secret: randomBytes(32), bootstrap: near.flatMap(({ addresses }) => addresses) },
    handlers,
  ),
)

test('attack 336: who asks is not blamed for an answer that takes long', async () => {
  const [one, two] = [new Listener(), new Listener()]
  const slow = { questionMs: 200 }
  one.onRequest = async (data) => {
    await new Promise((resolve) => setTimeout(resolve, 300))
    return data
  }
  one.network = await openLibp2pNetwork({ ...options, ...slow, secret: randomBytes(32), bootstrap: [] }, one)
  onTestFinished(() => one.network.close())
  const bootstrap = one.network.addresses
  two.network = await openLibp2pNetwork({ ...options, secret: randomBytes(32), bootstrap }, two)
  onTestFinished(() => two.network.close())
  await eventually(() => two.network.peers().length === 1 && one.network.peers().length === 1)
  const ask = (timeoutMs: number) => two.network.request(one.network.id, Uint8Array.of(1), { mostBytes: 10, timeoutMs })
  // It gives up before the answer is there.
  for (let times = 0; times < 4; times++) {
    const impatient = [ask(250), ask(250), ask(250)]
    expect(await Promise.all(impatient)).toEqual([null, null, null])
    await ask(5_000)
  }
  expect(await ask(5_000)).toEqual(Uint8Array.of(1))
  expect(one.network.peers()).toEqual([two.network.id])
})

test('a node tells which chain it follows; nodes of another chain do not talk to it', async () => {
  const one = new Listener()
  one.network = await openLibp2pNetwork({ ...options, secret: randomBytes(32), bootstrap: [] }, one)
  onTestFinished(() => one.network.close())
  const [address] = one.network.addresses as [string]
  expect(await genesisFromPeer(address)).toEqual(Uint8Array.of(1, 2, 3))
  const [, port] = /tcp\/(\d+)/.exec(address)!
  expect(await genesisFromPeer(`127.0.0.1:${port}`)).toEqual(Uint8Array.of(1, 2, 3))
  const other = new Listener()
  const elsewhere = { ...options, genesisId: 'cd'.repeat(32), secret: randomBytes(32), bootstrap: [address] }
  other.network = await openLibp2pNetwork(elsewhere, other)
  onTestFinished(() => other.network.close())
  expect(await other.network.request(one.network.id, Uint8Array.of(0), { mostBytes: 9, timeoutMs: 500 })).toBeNull()
  expect([one.network.peers(), other.network.peers()]).toEqual([[], []])
})

test('a port in use and an address that is none are told with a way out', async () => {
  const taken = createServer()
  await new Promise<void>((resolve) => taken.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void taken.close())
  const { port } = taken.address() as { port: number }
  const open = openLibp2pNetwork({ ...options, port, secret: randomBytes(32), bootstrap: [] }, new Listener())
  await expect(open).rejects.toMatchObject({ detail: { code: 'NODE_PORT_IN_USE' } })
  for (const text of ['', 'example.org', 'host:99999', '/ip4/1.2.3.4.5/tcp/1', 'a b:1'])
    expect(() => peerAddress(text)).toThrow(
      expect.objectContaining({ detail: expect.objectContaining({ code: 'BAD_PEER_ADDRESS' }) }),
    )
  expect(String(peerAddress('[::1]:4040'))).toBe('/ip6/::1/tcp/4040')
  expect(String(peerAddress('node.example:4040'))).toBe('/dns/node.example/tcp/4040')
  const closed = `127.0.0.1:${port + 1 > 65_535 ? port - 1 : port + 1}`
  await expect(genesisFromPeer(closed)).rejects.toMatchObject({ detail: { code: 'NO_GENESIS_FROM_PEER' } })
})
