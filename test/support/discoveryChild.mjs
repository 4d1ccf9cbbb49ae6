// Two nodes of one chain and one of another, in a network of their own that has nothing but a loopback. Prints who met whom.
import { randomBytes } from 'node:crypto'
import { openLibp2pNetwork } from '../../dist/drivers/p2p/libp2pNetwork.js'

const met = []
const open = (name, genesis) => {
  const where = { host: '127.0.0.1', port: 0, isDiscovering: true, bootstrap: [], secret: randomBytes(32) }
  return openLibp2pNetwork(
    { ...where, genesisId: genesis.repeat(32), genesisBytes: Uint8Array.of(1) },
    { onMessage: async () => 'ignore', onRequest: async (data) => data, onPeer: (peer) => note(name, peer) },
  )
}
const names = new Map()
const note = (name, peer) => {
  met.push([name, peer])
  const pairs = new Set(met.map(([one, other]) => `${one} met ${names.get(other)}`))
  if (!pairs.has('ada met bob') || !pairs.has('bob met ada')) return
  console.log(JSON.stringify([...pairs].sort()))
  process.exit(0)
}
// Of another chain first, so that there is somebody wrong to find.
const nodes = { cy: await open('cy', 'cd'), ada: await open('ada', 'ab'), bob: await open('bob', 'ab') }
for (const [name, { id }] of Object.entries(nodes)) names.set(id, name)
// What came before all had names is looked at now.
for (const [name, network] of Object.entries(nodes)) for (const peer of network.peers()) note(name, peer)
