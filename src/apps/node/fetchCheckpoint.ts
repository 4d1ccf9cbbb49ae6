import { concatBytes, equalBytes } from '../../core/bytes/bytes.ts'
import { toHex } from '../../core/bytes/hex.ts'
import { decodeBlock } from '../../core/chain/blockBytes.ts'
import { stateFromBytes, stateRoot } from '../../core/chain/genesisState.ts'
import type { Genesis } from '../../core/chain/genesisType.ts'
import { WEEK } from '../../core/chain/params.ts'
import { blockHash } from '../../core/chain/signing.ts'
import type { Block } from '../../core/chain/ssz.ts'
import { STATE_CHUNK_BYTES } from '../../core/chain/wire/requests.ts'
import type { ChainStore, StoredBlock } from '../../ports/chainStore.ts'
import type { Network } from '../../ports/network.ts'
import { askAncestors, askBlocks, askState, askStatus } from './askPeer.ts'
import { fault } from './faults.ts'

/** No state is larger: a peer that says so is not listened to. */
const MOST_STATE_BYTES = 1 << 30

interface Wanted {
  readonly genesis: Genesis
  readonly store: ChainStore
  /** Hash of the block that people name, in hexadecimal. */
  readonly id: string
  readonly slotNow: number
}

/**
 * Begins an empty store with a block that people vouch for (§3.5.6). The peer only delivers: the block must have this hash,
 * and the state the root that the block names. False if this peer does not have them.
 */
export async function fetchCheckpoint(network: Network, peer: string, wanted: Wanted): Promise<boolean> {
  const { genesis, store, id, slotNow } = wanted
  const [bytes] = (await askAncestors(network, peer, id, 1)) ?? []
  const block = bytes === undefined ? null : decodeBlock(bytes)
  if (bytes === undefined || block === null || toHex(blockHash(block.header)) !== id) return false
  const { epochSlots } = genesis.params
  if (BigInt(slotNow) - block.header.slot > WEEK * epochSlots) throw fault('CHECKPOINT_TOO_OLD', { id })
  const height = await heightOf(network, peer, block, id)
  const state = height === null ? null : await fetchState(network, peer, id)
  const read = state === null ? null : stateFromBytes(genesis, blockHash(block.header), state)
  if (height === null || state === null || read === null) return false
  if (!equalBytes(stateRoot(read), block.header.stateRoot)) {
    network.report(peer)
    return false
  }
  const { header } = block
  const place = { id, parent: toHex(header.parent), height, slot: Number(header.slot) }
  const facts: StoredBlock = { ...place, author: toHex(header.author), win: null }
  await store.adopt({ facts, bytes, state })
  return true
}

/** A header does not say its height: slots ascend, so a few questions find it. */
async function heightOf(network: Network, peer: string, { header }: Block, id: string): Promise<number | null> {
  const status = await askStatus(network, peer)
  let [low, high] = [1, status?.head.height ?? 0]
  while (low <= high) {
    const middle = Math.floor((low + high) / 2)
    const [bytes] = (await askBlocks(network, peer, middle)) ?? []
    const found = bytes === undefined ? null : decodeBlock(bytes)
    // What a peer has pruned lies before the checkpoint.
    if (found !== null && toHex(blockHash(found.header)) === id) return middle
    if (found === null || found.header.slot < header.slot) low = middle + 1
    else high = middle - 1
  }
  return null
}

async function fetchState(network: Network, peer: string, id: string): Promise<Uint8Array | null> {
  const parts: Uint8Array[] = []
  for (let [chunk, total] = [0, 1]; chunk * STATE_CHUNK_BYTES < total; chunk++) {
    const part = await askState(network, peer, id, chunk)
    if (part === null || part.total === 0 || part.total > MOST_STATE_BYTES) return null
    total = part.total
    parts.push(part.bytes)
  }
  return concatBytes(...parts)
}
