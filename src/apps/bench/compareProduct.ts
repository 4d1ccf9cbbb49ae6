import type { Precision } from '../../core/params/precision.ts'
import { PRESETS } from '../../core/params/presets.ts'
import { classK, largestSize } from '../../core/proof/sizeClass.ts'
import type { Clock } from '../../ports/clock.ts'
import type { Device, SeriesTask } from '../../ports/device.ts'
import type { Randomness } from '../../ports/randomness.ts'

export interface CompareDeps {
  /** Wanted time per side. */
  readonly seconds: number
  /** m = n; what suits the device unless said otherwise. */
  readonly size?: number
  readonly clock: Clock
  readonly randomness: Randomness
}

/** The proven product of a device beside its bare one. */
export type ProductRow = Awaited<ReturnType<typeof compareProduct>>

/** Bare and proven take turns on the same operands, so that both see the same clocks and neighbours. */
export async function compareProduct(device: Device, precision: Precision, deps: CompareDeps, signal: AbortSignal) {
  const { class: deviceClass, freeBytes, name } = device.facts
  const k = classK(PRESETS.mainnet, deviceClass, precision)
  const slow = deviceClass === 'cpu' && precision === 'fp32' ? 256 : deviceClass === 'cpu' ? 1024 : 16384
  const size = deps.size ?? Math.min(slow, largestSize(PRESETS.mainnet, deviceClass, precision, k, 0.9 * freeBytes))
  const task = (rounds: number): SeriesTask => ({
    kind: 'rounds',
    precision,
    m: size,
    n: size,
    k,
    rounds,
    seed: deps.randomness.bytes(32),
  })
  const warm = await timeSeries(device, task(2), deps.clock, signal)
  const rounds = Math.max(2, Math.ceil((deps.seconds * 1e6) / TURNS / (warm / 2)))
  let bare = 0
  let proven = 0
  for (let turn = 0; turn < TURNS; turn++) {
    const next = task(rounds)
    bare += (await device.runBare?.(next, signal)) ?? 0
    proven += await timeSeries(device, next, deps.clock, signal)
  }
  await device.release()
  const ops = TURNS * rounds * 2 * size * size * k
  return {
    device: name,
    precision,
    size,
    k,
    // Null on a device that has no bare product: nothing outside the proof multiplies on a CPU here.
    bareOpsPerSec: device.runBare ? (ops * 1e6) / bare : null,
    provenOpsPerSec: (ops * 1e6) / proven,
    ratio: device.runBare ? bare / proven : null,
  }
}

const TURNS = 4

async function timeSeries(device: Device, task: SeriesTask, clock: Clock, signal: AbortSignal): Promise<number> {
  const began = clock.monotonicUs()
  await device.runSeries(task, () => {}, signal)
  return clock.monotonicUs() - began
}
