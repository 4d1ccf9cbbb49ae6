import { afterEach } from 'vitest'
import { type NodeDeps, RunningNode } from '../../src/apps/node/node.ts'
import { toHex } from '../../src/core/bytes/hex.ts'
import type { Checks } from '../../src/core/chain/chainState.ts'
import { devnetGenesis, devnetKeys } from '../../src/core/chain/devnetGenesis.ts'
import { type Genesis, type GenesisProject, genesisHash } from '../../src/core/chain/genesisType.ts'
import type { ChainParams } from '../../src/core/chain/params.ts'
import { openMemoryChain } from '../../src/drivers/chainStore/openChainStore.ts'
import { MemoryHub } from '../../src/drivers/p2p/memoryHub.ts'
import { nativeSigner } from '../../src/drivers/system/nativeSigner.ts'
import type { ChainStore } from '../../src/ports/chainStore.ts'
import type { Log } from '../../src/ports/log.ts'
import { SILENT_LOG } from './silentLog.ts'
import { VirtualClock } from './virtualClock.ts'
import { library } from './vrfLibrary.ts'

/** The nodes of a test, which end with it. */
export function nodesOfTest(): RunningNode[] {
  const nodes: RunningNode[] = []
  afterEach(async () => {
    await Promise.all(nodes.splice(0).map((node) => node.close()))
  })
  return nodes
}

/** Nodes of one devnet in this process, on a virtual clock. */
export class NodeWorld {
  readonly clock = new VirtualClock()
  readonly hub = new MemoryHub()
  readonly genesis: Genesis
  readonly logged: string[] = []

  constructor(authorities: number, params: Partial<ChainParams> = {}, task?: GenesisProject) {
    const timeMs = BigInt(this.clock.wallTime().getTime())
    this.genesis = devnetGenesis({ timeMs, authorities, params, ...(task && { task }) }, library.vrf)
  }

  get genesisId(): string {
    return toHex(genesisHash(this.genesis))
  }

  readonly checks: Checks = {
    ...{ signature: library.checkSignature, vrf: library.vrf.verify, key: library.isAccountKey },
    ...{ patch: () => false, terms: () => false, live: () => true },
  }

  store(): Promise<ChainStore> {
    return openMemoryChain(this.genesisId)
  }

  /** A node with the keys of a devnet account, or one that only follows. */
  async start(account: number | null, store?: ChainStore, more: Partial<NodeDeps> = {}): Promise<RunningNode> {
    const name = account === null ? 'follower' : `node-${account}`
    const note = (level: string) => (message: string, fields?: object) =>
      void this.logged.push(`${name} ${level} ${message} ${JSON.stringify(fields ?? {})}`)
    const log: Log = { ...SILENT_LOG, warn: note('warn'), error: note('error') }
    return await RunningNode.start({
      genesis: this.genesis,
      store: store ?? (await this.store()),
      checks: this.checks,
      clock: this.clock,
      log,
      keys: account === null ? null : devnetKeys(account, library.vrf, nativeSigner),
      connect: (handlers) => this.hub.join(handlers, name),
      ...more,
    })
  }

  /** Lets so many slots pass. */
  async pass(slots: number): Promise<void> {
    await this.clock.sleep(slots * Number(this.genesis.params.slotMs))
  }
}
