import type { TransferRates } from '../../../ports/device.ts'
import { TouchstoneError } from '../../../ports/errors.ts'
import type { CudaApi, Handle } from './loadLibcuda.ts'

const MIB = 2 ** 20
/** Long enough that starting a copy does not count, short enough that pinning the memory takes little. */
const MOST_BYTES = 64 * MIB
/** For whoever asked for nothing else. */
const LONG_BYTES = 256 * MIB
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
    const { toCard, toHost } = copyPinned(api, stream, bytes)
    return { hostToCardBytesPerSec: toCard, cardToHostBytesPerSec: toHost }
  } catch (error) {
    const reason = error instanceof TouchstoneError ? error.detail.code : 'unknown'
    return { transferRates: `not measured: ${reason}` }
  }
}

/** The same for longer, and from memory as programs have it, which the driver must copy once more. */
export function compareTransfers(api: CudaApi, stream: Handle): TransferRates {
  const bytes = Math.max(MIB, MIB * Math.floor(Math.min(LONG_BYTES, api.freeMemory().freeBytes * FREE_SHARE) / MIB))
  return { pinned: copyPinned(api, stream, bytes), pageable: copyPageable(api, bytes) }
}

function copyPinned(api: CudaApi, stream: Handle, bytes: number): TransferRates['pinned'] {
  return withCardMemory(api, bytes, (card) => {
    const host = api.allocateHost(bytes)
    try {
      const rate = (to: Handle, from: Handle) => Math.round(bestRate(api, stream, { to, from, bytes }))
      return { toCard: rate(card, host.pointer), toHost: rate(host.pointer, card) }
    } finally {
      api.freeHost(host)
    }
  })
}

function copyPageable(api: CudaApi, bytes: number): TransferRates['pageable'] {
  return withCardMemory(api, bytes, (card) => {
    // Written once, so that no copy waits for the system to find the memory.
    const host = new Uint8Array(bytes).fill(1)
    const rate = (copy: () => void) => Math.round(bytes / (shortestOf(() => timed(copy)) / 1000))
    return { toCard: rate(() => api.upload(card, host)), toHost: rate(() => api.downloadTo(host, card)) }
  })
}

function withCardMemory<T>(api: CudaApi, bytes: number, use: (card: Handle) => T): T {
  const card = api.allocate(bytes)
  try {
    return use(card)
  } finally {
    api.free(card)
  }
}

function bestRate(api: CudaApi, stream: Handle, copy: { to: Handle; from: Handle; bytes: number }): number {
  const [began, ended] = [api.createEvent(), api.createEvent()]
  try {
    const shortest = shortestOf(() => {
      api.recordEvent(began, stream)
      api.copyAsync(copy.to, copy.from, copy.bytes, stream)
      api.recordEvent(ended, stream)
      return api.elapsedMs(began, ended)
    })
    return copy.bytes / (shortest / 1000)
  } finally {
    api.destroyEvent(began)
    api.destroyEvent(ended)
  }
}

/** Milliseconds of the shortest of a few. */
function shortestOf(copy: () => number): number {
  let shortest = Number.POSITIVE_INFINITY
  for (let copies = 0, spent = 0; copies < COPIES && spent < ENOUGH_MS; copies++) {
    const milliseconds = copy()
    shortest = Math.min(shortest, milliseconds)
    spent += milliseconds
  }
  return shortest
}

function timed(copy: () => void): number {
  const began = performance.now()
  copy()
  return performance.now() - began
}
