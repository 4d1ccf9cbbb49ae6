import type { ChainStore } from '../../ports/chainStore.ts'
import type { Clock } from '../../ports/clock.ts'
import { ASKS_ONLY, type Network, type NetworkHandlers } from '../../ports/network.ts'
import { fault } from './faults.ts'
import { fetchCheckpoint } from './fetchCheckpoint.ts'

interface Start extends Omit<Parameters<typeof fetchCheckpoint>[2], 'slotNow'> {
  readonly clock: Clock
  connect(handlers: NetworkHandlers): Promise<Network>
}

const TRIES = 30

/**
 * Asks whoever can be reached for a checkpoint, for half a minute. Who asks us meanwhile hears nothing. A folder that has a
 * chain must have that block in it (attack 272).
 */
export async function startFromCheckpoint({ clock, connect, ...wanted }: Start, signal: AbortSignal): Promise<void> {
  const { id, store } = wanted
  if (store.head.height > 0) return await requireOnBranch(store, id)
  const { timeMs, params } = wanted.genesis
  const network = await connect(ASKS_ONLY)
  try {
    for (let tries = 0; tries < TRIES; tries++) {
      const slotNow = Math.floor((clock.wallTime().getTime() - Number(timeMs)) / Number(params.slotMs))
      for (const peer of network.peers()) if (await fetchCheckpoint(network, peer, { ...wanted, slotNow })) return
      await clock.sleep(1_000, signal)
    }
    throw fault('CHECKPOINT_NOT_FOUND', { id })
  } finally {
    await network.close()
  }
}

async function requireOnBranch(store: ChainStore, id: string): Promise<void> {
  const height = (await store.facts(id))?.height
  if (height === undefined || (await store.idAt(height)) !== id) throw fault('CHECKPOINT_ELSEWHERE', { id })
}
