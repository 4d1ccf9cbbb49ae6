import { TouchstoneError } from '../../../ports/errors.ts'
import type { CudaApi, Handle } from './loadLibcuda.ts'

const MIB = 2 ** 20
/** Long enough that starting a copy does not count, short enough that pinning the memory takes little. */
const MOST_BYTES = 64 * MIB
const FREE_SHARE = 1 / 64
const COPIES = 8
/** A slow bus is known after one copy. */
const ENOUGH_MS = 20

type Details = Readonly<Record<string, string | number>>

/**
 * Bytes a second between pinned memory of the host and the card, the best of a few copies each way, and a reason where
 * they cannot be had. All cards of a box open at once, so cards that share a path share its rate. Never a fault: a card
 * that cannot do this still has its work to show.
 */
export function measureTransfers(api: CudaApi, stream: Handle): Details {
  try {
    const bytes = MIB * Math.floor(Math.min(MOST_BYTES, api.freeMemory().freeBytes * FREE_SHARE) / MIB)
    if (bytes === 0) return { transferRates: 'not measured: too little free memory' }
    return copyBothWays(api, stream, bytes)
  } catch (error) {
    const reason = error instanceof TouchstoneError ? error.detail.code : 'unknown'
    return { transferRates: `not measured: ${reason}` }
  }
}

function copyBothWays(api: CudaApi, stream: Handle, bytes: number): Details {
  const given: (() => void)[] = []
  try {
    const host = api.allocateHost(bytes)
    given.push(() => api.freeHost(host))
    const card = api.allocate(bytes)
    given.push(() => api.free(card))
    const rate = (to: Handle, from: Handle) => Math.round(bestRate(api, stream, { to, from, bytes }))
    return {
      hostToCardBytesPerSec: rate(card, host.pointer),
      cardToHostBytesPerSec: rate(host.pointer, card),
    }
  } finally {
    for (const giveBack of given.reverse()) giveBack()
  }
}

function bestRate(api: CudaApi, stream: Handle, copy: { to: Handle; from: Handle; bytes: number }): number {
  const [began, ended] = [api.createEvent(), api.createEvent()]
  try {
    let shortest = Number.POSITIVE_INFINITY
    for (let copies = 0, spent = 0; copies < COPIES && spent < ENOUGH_MS; copies++) {
      api.recordEvent(began, stream)
      api.copyAsync(copy.to, copy.from, copy.bytes, stream)
      api.recordEvent(ended, stream)
      const milliseconds = api.elapsedMs(began, ended)
      shortest = Math.min(shortest, milliseconds)
      spent += milliseconds
    }
    return copy.bytes / (shortest / 1000)
  } finally {
    api.destroyEvent(began)
    api.destroyEvent(ended)
  }
}
