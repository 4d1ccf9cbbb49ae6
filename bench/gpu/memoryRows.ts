import type { Card } from '../../src/drivers/gpu/cuda/card.ts'
import { measureTransfers } from '../../src/drivers/gpu/cuda/measureTransfers.ts'
import { Stop } from '../../src/drivers/gpu/cuda/stop.ts'
import { round } from './figures.ts'
import { timed } from './openCard.ts'
import type { Row } from './ratios.ts'

const SIDE = 16384
const TILES = (SIDE / 32) ** 2

/** Bytes a second read and written by the library's own copy, the measure of §7. */
export function copyRate(card: Card): number {
  const { api, stream } = card.tools
  const bytes = 16e9
  const [from, to] = [api.allocate(bytes), api.allocate(bytes)]
  const rate = (2 * bytes) / (timed(card, 10, () => api.copyAsync(to, from, bytes, stream)) / 1000)
  api.free(from)
  api.free(to)
  return rate
}

/** Host to card and card to host, as every verdict shows them. */
export function transferRow({ tools }: Card): Row {
  const details = measureTransfers(tools.api, tools.stream)
  const up = Number(details.hostToCardBytesPerSec)
  return { what: 'host to card, GB/s', target: 'shown', value: round(up / 1e9, 1), met: null, details }
}

/** §7 on this card: a fill of 95 % of it, then passes for more than two seconds, with the copy before and after them. */
export function memoryRows(card: Card): Row[] {
  const { api } = card.tools
  const copyBefore = copyRate(card)
  const { totalBytes, freeBytes } = api.freeMemory()
  const kept = Math.floor((0.95 * totalBytes) / (TILES * (2048 + 16)))
  const passes = 34
  let began = performance.now()
  const task = { m: SIDE, n: SIDE, k: 32768, kept, seed: crypto.getRandomValues(new Uint8Array(32)) }
  card.fill(task, () => {}, new Stop())
  const fillSeconds = (performance.now() - began) / 1000
  began = performance.now()
  let ended = began
  const start = crypto.getRandomValues(new Uint8Array(32))
  card.runPasses(
    { passes, start },
    () => {
      ended = performance.now()
    },
    new Stop(),
  )
  const seconds = (ended - began) / 1000
  const held = 2048 * TILES * kept
  const rate = (2 * held * passes) / seconds
  began = performance.now()
  const asked = Array.from({ length: 128 }, (_, i) => ({ round: i % passes, tile: (i * 7919 * 4001) % (TILES * kept) }))
  card.openPasses(asked)
  const openMs = performance.now() - began
  card.release()
  const copyAfter = copyRate(card)
  const copy = (copyBefore + copyAfter) / 2
  const details = {
    totalBytes,
    freeBytes,
    kept,
    held,
    fillSeconds: round(fillSeconds, 2),
    passSeconds: round(seconds, 3),
    passes,
    openings128Ms: round(openMs, 1),
    freedBytes: api.freeMemory().freeBytes,
  }
  return [
    {
      what: 'memory held / memory of the card',
      target: '>= 0.94',
      value: round(held / totalBytes),
      met: held / totalBytes >= 0.94,
      details,
    },
    {
      what: 'passes / copy bandwidth',
      target: '>= 0.95',
      value: round(rate / copy),
      met: rate / copy >= 0.95,
      details: {
        passBytesPerSec: Math.round(rate),
        copyBeforeBytesPerSec: Math.round(copyBefore),
        copyAfterBytesPerSec: Math.round(copyAfter),
      },
    },
  ]
}
