import { mkdirSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { RunningNode } from '../../apps/node/node.ts'
import { startFromCheckpoint } from '../../apps/node/startFromCheckpoint.ts'
import { toHex } from '../../core/bytes/hex.ts'
import type { ChainState, Checks } from '../../core/chain/chainState.ts'
import { shownChunks } from '../../core/chain/drilling/shownChunks.ts'
import { encodeGenesis, genesisHash } from '../../core/chain/genesisType.ts'
import { WEEK } from '../../core/chain/params.ts'
import type { Tx } from '../../core/chain/ssz.ts'
import { productChecks } from '../../core/work/drilled/productChecks.ts'
import { openChainStore } from '../../drivers/chainStore/openChainStore.ts'
import { useFastTrees } from '../../drivers/hashtree/useFastTrees.ts'
import { openLibp2pNetwork } from '../../drivers/p2p/libp2pNetwork.ts'
import { openEnvelopeThread } from '../../drivers/sodium/openEnvelopeThread.ts'
import { openVrf } from '../../drivers/sodium/openVrf.ts'
import { loadSecret } from '../../drivers/system/loadSigner.ts'
import { openChunks } from '../../drivers/verifier/openChunks.ts'
import type { ChainEvent } from '../../ports/chainNode.ts'
import type { StoredBlock } from '../../ports/chainStore.ts'
import type { Log, LogLevel } from '../../ports/log.ts'
import type { NetworkHandlers } from '../../ports/network.ts'
import type { VrfLibrary } from '../../ports/vrf.ts'
import { EXIT } from '../exitCodes.ts'
import { fault } from '../faults.ts'
import { openTerminal } from '../render/terminal.ts'
import type { CommandContext } from '../run.ts'
import { system } from '../system.ts'
import type { NodeFlags } from './nodeCommand.ts'
import { chooseGenesis } from './nodeGenesis.ts'
import { readAccount, unlockWallet, usualAccount } from './nodeKeys.ts'
import { openNodeApi } from './openNodeApi.ts'
import { openRoles } from './openRoles.ts'

/** Runs a node until it is interrupted, or stops by itself. */
export async function runNode(flags: NodeFlags, { env }: CommandContext, signal: AbortSignal): Promise<number> {
  await useFastTrees()
  const library = await openVrf()
  const data = resolve(flags.data)
  mkdirSync(data, { recursive: true, mode: 0o700 })
  const { bootstrap, authorities } = flags
  const { genesis, isNew } = await chooseGenesis({ data, named: flags.genesis, bootstrap, authorities }, library.vrf)
  const unlock = (path: string) => unlockWallet(path, flags, env, signal)
  const account = flags.key ?? usualAccount(data, isNew, flags.drill === true)
  const keys = await readAccount(account, library.vrf, flags, unlock)
  const genesisId = toHex(genesisHash(genesis))
  const store = await openChainStore(join(data, 'chain'), genesisId)
  const voice = openVoice(flags, env)
  const checker = openEnvelopeThread(genesisHash(genesis))
  const { checks, chunkAt, prepare, close: closeChunks } = await openChecks(library)
  const isDrilling = flags.drill === true
  const roles = openRoles({ data, keys, isDrilling, checks, chunkAt, log: voice.log })
  try {
    const secret = loadSecret(data, 'peer', system.randomness)
    const where = { host: flags.host, port: flags.port, bootstrap, isDiscovering: flags.discovery, secret }
    const network = { ...where, genesisId, genesisBytes: encodeGenesis(genesis) }
    const connect = (handlers: NetworkHandlers) => openLibp2pNetwork(network, handlers)
    if (flags.checkpoint !== undefined)
      await startFromCheckpoint({ genesis, store, clock: system.clock, id: flags.checkpoint, connect }, signal)
    const node = await RunningNode.start({
      ...{ genesis, store, keys, checker, log: voice.log, clock: system.clock, checks, connect },
      ...(flags.prune && { keepBlocks: Number(WEEK * genesis.params.epochSlots) }),
      ...{ answerBox: roles.answerBox, prepare },
    })
    let closeApi = async () => {}
    try {
      const api = await openNodeApi(flags.api, node, voice.log)
      closeApi = api.close
      voice.begin(node, genesis.preset, api.url, await node.checkpoint())
      node.subscribe((event) => voice.tell(event, node))
      roles.begin(node)
      if (bootstrap.length === 0) requireAlive(node)
      signal.addEventListener('abort', () => void node.close(), { once: true })
      await node.ended()
    } finally {
      await roles.close()
      await closeApi()
      await node.close()
    }
  } finally {
    await checker.close()
    await closeChunks()
    await store.close()
  }
  return EXIT.genuine
}

/** Alone, a node cannot go on with a chain that stood still for too long; others may have gone on with it. */
function requireAlive({ head, slot, genesis: { params } }: RunningNode): void {
  const epochs = Math.floor(slot / Number(params.epochSlots)) - Math.floor(head.slot / Number(params.epochSlots))
  const minutes = Math.round(((slot - head.slot) * Number(params.slotMs)) / 60_000)
  if (epochs > Number(WEEK)) throw fault('CHAIN_STOOD_STILL', { minutes, epochs: Number(WEEK) })
}

/** Openings of drilled work are computed again with the kernels that check Proof of GPU. */
async function openChecks({ checkSignature, vrf, isAccountKey }: VrfLibrary) {
  const chunks = await openChunks()
  const { prepare, ...drilling } = productChecks(chunks.chunkAt, chunks.elsewhere)
  const checks: Checks = { signature: checkSignature, vrf: vrf.verify, key: isAccountKey, ...drilling }
  return {
    ...{ checks, chunkAt: chunks.elsewhere, close: chunks.close },
    prepare: async (state: ChainState, txs: readonly Tx[]) => {
      for (const shown of txs.map((tx) => shownChunks(state, tx)))
        if (shown !== null) await prepare(shown, shown.indices)
    },
  }
}

/** What a person or a script is told. */
function openVoice({ json }: NodeFlags, env: NodeJS.ProcessEnv) {
  const { line, live, colours } = openTerminal(process.stdout, env)
  const say = (fields: object) => line(JSON.stringify({ ...fields, at: system.clock.wallTime().toISOString() }))
  const at =
    (level: LogLevel) =>
    (message: string, fields = {}) =>
      json ? say({ event: level, message, ...fields }) : line(`  ${colours.yellow(level)} ${message} ${told(fields)}`)
  const log: Log = { debug: () => {}, info: at('info'), warn: at('warn'), error: at('error') }
  return {
    log,
    begin: (node: RunningNode, preset: string, api: string | null, start: StoredBlock | null) => {
      const { genesisId, addresses } = node
      const { account } = node.status()
      const checkpoint = start?.id ?? null
      if (json)
        return say({
          event: 'started',
          genesis: genesisId,
          account,
          addresses,
          api,
          head: node.head.height,
          checkpoint,
        })
      line(`  chain    ${genesisId.slice(0, 16)} (${preset}), at block ${node.head.height}`)
      line(`  account  ${account ?? 'none: this node follows, and makes no blocks'}`)
      for (const address of addresses) line(`  address  ${address}`)
      if (api !== null) line(`  api      ${api}`)
      if (start !== null) line(`  others can begin with block ${start.height}: --checkpoint ${start.id}`)
    },
    tell: (event: ChainEvent, node: RunningNode) => {
      if (json)
        return event.kind === 'halted' ? say({ event: event.kind, blocks: event.blocks }) : say(toldBlock(event))
      const { slot, peers, pooled } = node.status()
      live(`  slot ${slot}  head ${node.head.height}  final ${node.final.height}  peers ${peers}  pool ${pooled}`)
    },
  }
}

const toldBlock = ({ kind, block }: Exclude<ChainEvent, { kind: 'halted' }>) => ({
  event: kind,
  ...{ id: block.id, height: block.height, slot: block.slot, author: block.author, isPrimary: block.win !== null },
})

const told = (fields: object): string =>
  Object.entries(fields)
    .map(([name, value]) => `${name}: ${value}`)
    .join(', ')
