import * as z from 'zod'
import { fromHex } from '../../core/bytes/hex.ts'
import type { ChainAnchor, FinalBlock } from '../../ports/chainAnchor.ts'
import type { Clock } from '../../ports/clock.ts'
import type { Log } from '../../ports/log.ts'
import { fetchShort } from './fetchShort.ts'

const EVERY_MS = 5_000
/** What is older says little about when a run took place. */
const OLDEST_US = 120_000_000
const MOST_BYTES = 16 * 1024

const hash = z.string().regex(/^[0-9a-f]{64}$/)
const told = z.object({ genesis: hash, final: z.object({ id: hash, height: z.int().min(0) }) })

/** Asks a node of our chain for its last final block every few seconds, until the signal fires. */
export function nodeAnchor(
  url: string,
  { clock, log }: { readonly clock: Clock; readonly log: Log },
  signal: AbortSignal,
) {
  let known: { readonly block: FinalBlock; readonly atUs: number } | null = null
  let isAway = false
  const look = async (): Promise<void> => {
    try {
      const { genesis, final } = told.parse(JSON.parse(await fetchShort(`${url}/v1/chain`, MOST_BYTES, signal)))
      const block = { chain: `ts1/${genesis}`, height: final.height, hash: fromHex(final.id, 32)! }
      known = { block, atUs: clock.monotonicUs() }
      if (isAway) log.info('runs are tied to the chain again')
      isAway = false
    } catch {
      if (!isAway && !signal.aborted) log.warn('no final block to tie runs to; they go on without', { url })
      isAway = true
    }
  }
  const follow = async (): Promise<void> => {
    while (!signal.aborted) {
      await look()
      await clock.sleep(EVERY_MS, signal).catch(() => {})
    }
  }
  const anchor: ChainAnchor = {
    latest: () => (known !== null && clock.monotonicUs() - known.atUs <= OLDEST_US ? known.block : null),
  }
  return { anchor, done: follow() }
}
