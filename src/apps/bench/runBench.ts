import type { BenchLink, MeasuredDevice } from '../../core/bench/benchReport.ts'
import { summariseSamples } from '../../core/bench/summariseSamples.ts'
import { printable } from '../../core/bytes/printable.ts'
import type { Precision } from '../../core/params/precision.ts'
import type { Device } from '../../ports/device.ts'
import { TouchstoneError } from '../../ports/errors.ts'
import { type CompareDeps, compareProduct, type ProductRow } from './compareProduct.ts'
import { measureLinks, measureMemory } from './measureMemory.ts'
import { watchDevice } from './watchDevice.ts'

export interface BenchDeps extends CompareDeps {
  readonly precisions: readonly Precision[]
  /** Told what begins. */
  readonly onStep: (text: string) => void
}

export interface BenchRun {
  readonly devices: readonly MeasuredDevice[]
  readonly links: readonly BenchLink[]
  /** Of devices that could not be measured, and are left out. */
  readonly faults: readonly unknown[]
}

/**
 * Products and memory on all devices at once, as a training job would have them; then what lies between them and the host,
 * and between each other, one at a time. A device that fails is a fault, and the others go on.
 */
export async function runBench(devices: readonly Device[], deps: BenchDeps, signal: AbortSignal): Promise<BenchRun> {
  const settled = await Promise.allSettled(devices.map((device, i) => measureDevice(device, i, deps, signal)))
  signal.throwIfAborted()
  const faults = settled.flatMap((one) => (one.status === 'rejected' ? [one.reason] : []))
  const sound = devices.filter((_, i) => settled[i]!.status === 'fulfilled')
  const measured = settled.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []))
  if (sound.some((device) => device.transfers)) deps.onStep('host transfer')
  const transfers: MeasuredDevice['transfers'][] = []
  for (const device of sound) {
    const found = await device.transfers?.(signal).catch((error: unknown) => void faults.push(error))
    signal.throwIfAborted()
    transfers.push(found ?? null)
  }
  if (sound.length > 1) deps.onStep('card to card')
  const links = await measureLinks(sound, deps, signal)
  return {
    devices: measured.map((device, i) => ({ ...device, transfers: transfers[i]! })),
    links: links.map(({ from, to, bytesPerSec }) => ({
      from: devices.indexOf(from),
      to: devices.indexOf(to),
      ...(bytesPerSec instanceof Error
        ? { bytesPerSec: null, why: codeOf(bytesPerSec) }
        : { bytesPerSec: Math.round(bytesPerSec), why: null }),
    })),
    faults,
  }
}

const codeOf = (error: Error): string => (error instanceof TouchstoneError ? error.detail.code : 'UNEXPECTED')

async function measureDevice(device: Device, number: number, deps: BenchDeps, signal: AbortSignal) {
  const watch = watchDevice(device, deps.clock)
  try {
    const rows: ProductRow[] = []
    for (const precision of deps.precisions.filter((name) => device.facts.precisions.includes(name))) {
      deps.onStep(`${precision} product`)
      rows.push(await compareProduct(device, precision, deps, signal))
    }
    deps.onStep('memory')
    const memory = await measureMemory(device, deps, signal)
    return measuredDevice(device, number, rows, memory, await watch.stop())
  } finally {
    await watch.stop()
  }
}

type Samples = Awaited<ReturnType<ReturnType<typeof watchDevice>['stop']>>

function measuredDevice(
  { facts }: Device,
  device: number,
  rows: readonly ProductRow[],
  memory: NonNullable<MeasuredDevice['memory']>,
  samples: Samples,
): MeasuredDevice {
  const { details } = facts
  const text = (name: string) => (typeof details[name] === 'string' ? printable(details[name], 100) : null)
  return {
    device,
    name: printable(facts.name, 100),
    class: facts.class,
    backEnd: facts.backEnd,
    uuid: text('uuid'),
    driver: text('driver'),
    productLibrary: text('productLibrary'),
    memoryBytes: facts.memoryBytes,
    products: rows.map(({ precision, size, k, bareOpsPerSec, provenOpsPerSec }) => ({
      precision,
      size,
      k,
      provenOpsPerSec: Math.round(provenOpsPerSec),
      bareOpsPerSec: bareOpsPerSec === null ? null : Math.round(bareOpsPerSec),
    })),
    memory,
    transfers: null,
    watched: summariseSamples(samples),
    state: details,
  }
}
