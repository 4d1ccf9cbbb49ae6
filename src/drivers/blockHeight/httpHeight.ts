import type { BlockHeight } from '../../ports/blockHeight.ts'
import { fault } from './faults.ts'
import { fetchShort } from './fetchShort.ts'

const MOST_BYTES = 4096

/** Height of the latest final block from a node: a plain number, or JSON with a number `height`. */
export function httpHeight(url: string): BlockHeight {
  return {
    height: async (signal) => {
      try {
        const value: unknown = JSON.parse(await fetchShort(url, MOST_BYTES, signal))
        const height = typeof value === 'object' ? (value as { height?: unknown } | null)?.height : value
        if (Number.isSafeInteger(height) && (height as number) >= 0) return height as number
      } catch (cause) {
        if (signal.aborted) throw cause
      }
      throw fault('NO_BLOCK_HEIGHT')
    },
  }
}
