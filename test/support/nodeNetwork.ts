import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import { toHex } from '../../src/core/bytes/hex.ts'
import { devnetGenesis, devnetKeys } from '../../src/core/chain/devnetGenesis.ts'
import { encodeGenesis, type Genesis, genesisHash, genesisToJson } from '../../src/core/chain/genesisType.ts'
import { txBytes, txMessage } from '../../src/core/chain/signing.ts'
import { TxType } from '../../src/core/chain/ssz.ts'
import { TransferType } from '../../src/core/chain/transactions/payloads.ts'
import { openLibp2pNetwork } from '../../src/drivers/p2p/libp2pNetwork.ts'
import { openVrf } from '../../src/drivers/sodium/openVrf.ts'
import { nativeSigner } from '../../src/drivers/system/nativeSigner.ts'
import { ASKS_ONLY, type Network, type NetworkHandlers } from '../../src/ports/network.ts'
import { type CuttingRelay, startCuttingRelay } from './cuttingRelay.ts'
import { freePort } from './freePort.ts'
import { NodeProcess } from './nodeProcess.ts'
import { temporaryFolder } from './temporaryFolder.ts'

/**
 * Four authorities of one chain, each a process on loopback. Nodes 0 and 1 know each other, and so do 2 and 3; what goes
 * from one half to the other goes through relays, which can be cut.
 */
export class NodeNetwork {
  readonly nodes: NodeProcess[] = []
  readonly genesis: Genesis
  readonly genesisId: string
  private readonly folder: string
  private readonly ports: readonly number[]
  private readonly relays: readonly CuttingRelay[]

  private constructor(genesis: Genesis, folder: string, ports: readonly number[], relays: readonly CuttingRelay[]) {
    this.genesis = genesis
    this.genesisId = toHex(genesisHash(genesis))
    this.folder = folder
    this.ports = ports
    this.relays = relays
  }

  static async open(slotMs: number): Promise<NodeNetwork> {
    const { vrf } = await openVrf()
    // The nodes take a while to come up.
    const timeMs = BigInt(Date.now() + 1_500)
    const genesis = devnetGenesis({ timeMs, authorities: 4, params: { slotMs: BigInt(slotMs) } }, vrf)
    const folder = temporaryFolder()
    writeFileSync(join(folder, 'genesis.json'), JSON.stringify(genesisToJson(genesis)))
    const ports = await Promise.all(Array.from({ length: 5 }, freePort))
    const relays = [await startCuttingRelay(ports[0]!), await startCuttingRelay(ports[1]!)]
    const network = new NodeNetwork(genesis, folder, ports, relays)
    onTestFinished(async () => {
      await Promise.all(network.nodes.map((node) => node.kill()))
      await Promise.all(relays.map((relay) => relay.close()))
    })
    return network
  }

  /** Starts a node, or starts it again on its folder. Node 4 only follows. */
  start(number: number): NodeProcess {
    const [direct, far] = [
      (to: number) => `127.0.0.1:${this.ports[to]}`,
      (relay: number) => `127.0.0.1:${this.relays[relay]!.port}`,
    ]
    const known = [[], [direct(0)], [far(0)], [direct(2), far(1)], [direct(0)]][number]!
    const args = ['--data', join(this.folder, String(number)), '--genesis', join(this.folder, 'genesis.json')]
    args.push('--port', String(this.ports[number]), '--key', number < 4 ? `devnet:${number}` : 'none')
    const node = new NodeProcess([...args, ...known.flatMap((address) => ['--bootstrap', address])])
    // What it told in earlier lives stays true.
    for (const [height, id] of this.nodes[number]?.finals ?? []) node.finals.set(height, id)
    this.nodes[number] = node
    return node
  }

  /** Cuts the two halves apart, or joins them again. */
  part(isCut: boolean): void {
    for (const relay of this.relays) {
      relay.cutAfter(isCut ? 0 : null)
      if (isCut) relay.cutNow()
    }
  }

  /** A node of the test's own, to say things to the others and to ask them. */
  async visitor(handlers: Partial<NetworkHandlers> = {}): Promise<Network> {
    const network = await openLibp2pNetwork(
      {
        genesisId: this.genesisId,
        genesisBytes: encodeGenesis(this.genesis),
        secret: crypto.getRandomValues(new Uint8Array(32)),
        ...{ host: '127.0.0.1', port: 0, isDiscovering: false, bootstrap: [`127.0.0.1:${this.ports[0]}`] },
      },
      { ...ASKS_ONLY, ...handlers },
    )
    onTestFinished(() => network.close())
    return network
  }

  portOf(number: number): number {
    return this.ports[number]!
  }

  /** A payment of a devnet account to another, told to a node. */
  async pay(visitor: Network, from: number, nonce: number): Promise<Uint8Array> {
    const { signer } = devnetKeys(from, (await openVrf()).vrf, nativeSigner)
    const { timeMs, params } = this.genesis
    const slot = (BigInt(Date.now()) - timeMs) / params.slotMs
    const payload = TransferType.serialize({ to: new Uint8Array(32).fill(7), amount: BigInt(42 + nonce) })
    const none = { sig: new Uint8Array(64), payerSig: [], payer: [] }
    const fields = { kind: 0, account: signer.publicKey, nonce: BigInt(nonce), lastSlot: slot + params.epochSlots - 1n }
    const blank = { ...fields, fee: 0n, payload, ...none }
    const tx = { ...blank, fee: params.feePerByte * BigInt(txBytes(blank)) }
    const bytes = TxType.serialize({ ...tx, sig: signer.sign(txMessage(genesisHash(this.genesis), tx)) })
    await visitor.publish('txs', bytes)
    return bytes
  }

  /** Two nodes, or one before and after a kill, that told different final blocks of one height; none is right. */
  conflicts(): string[] {
    const seen = new Map<number, string>()
    const found: string[] = []
    for (const { finals } of this.nodes)
      for (const [height, id] of finals) {
        if ((seen.get(height) ?? id) !== id) found.push(`${height}: ${seen.get(height)} and ${id}`)
        seen.set(height, id)
      }
    return found
  }

  /** The highest block that all of these nodes told as final. */
  finalOf(numbers: readonly number[]): number {
    return Math.min(...numbers.map((number) => this.nodes[number]!.final))
  }

  async untilFinal(numbers: readonly number[], height: number): Promise<void> {
    await Promise.all(numbers.map((number) => this.nodes[number]!.untilFinal(height)))
  }
}
