import type { BlockHeight } from '../../ports/blockHeight.ts'
import { fault } from './faults.ts'

const LIMIT_MS = 10_000
const MOST_BYTES = 4096

/** Height of the latest final block from a node: a plain number, or JSON with a number `height`. */
export function httpHeight(url: string): BlockHeight {
  return {
    height: async (signal) => {
      try {
        const limit = AbortSignal.any([signal, AbortSignal.timeout(LIMIT_MS)])
        // Where the operator pointed, and nowhere else.
        const response = await fetch(url, { signal: limit, redirect: 'error' })
        const value: unknown = JSON.parse(await readShort(response))
        const height = typeof value === 'object' ? (value as { height?: unknown } | null)?.height : value
        if (response.ok && Number.isSafeInteger(height) && (height as number) >= 0) return height as number
      } catch (cause) {
        if (signal.aborted) throw cause
      }
      throw fault('NO_BLOCK_HEIGHT')
    },
  }
}

/** Leaving the loop cancels the answer: a node that never ends one fills nothing here. */
async function readShort({ body }: Response): Promise<string> {
  const chunks: Uint8Array[] = []
  let bytes = 0
  for await (const chunk of body ?? []) {
    bytes += chunk.length
    if (bytes > MOST_BYTES) return 'null'
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString()
}
