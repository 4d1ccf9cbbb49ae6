import type { BlockHeight } from '../../ports/blockHeight.ts'
import { fault } from './faults.ts'

const LIMIT_MS = 10_000
const MOST_BYTES = 4096

/** Height of the latest final block from a node: a plain number, or JSON with a number `height`. */
export function httpHeight(url: string): BlockHeight {
  return {
    height: async (signal) => {
      try {
        const response = await fetch(url, { signal: AbortSignal.any([signal, AbortSignal.timeout(LIMIT_MS)]) })
        const text = await response.text()
        const value: unknown = text.length > MOST_BYTES ? null : JSON.parse(text)
        const height = typeof value === 'object' ? (value as { height?: unknown } | null)?.height : value
        if (response.ok && Number.isSafeInteger(height) && (height as number) >= 0) return height as number
      } catch (cause) {
        if (signal.aborted) throw cause
      }
      throw fault('NO_BLOCK_HEIGHT')
    },
  }
}
