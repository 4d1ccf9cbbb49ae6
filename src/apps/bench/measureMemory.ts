import { KEPT_TILE_BYTES, TILE } from '../../core/params/constants.ts'
import { PRESETS } from '../../core/params/presets.ts'
import { classK, keptRounds, memorySize } from '../../core/proof/sizeClass.ts'
import type { Device, PassTask } from '../../ports/device.ts'
import type { CompareDeps } from './compareProduct.ts'

/** Passes keep a little for each; a longer look at memory tells no more. */
const MOST_PASSES = 64
const MOST_SECONDS = 2.5
/** Passes over so little of a card already come from beyond its cache. */
const LINKED_ROUNDS = 2

/** All of the memory filled as in a proof, then read in passes: bytes that were held, and how fast they are read. */
export async function measureMemory(device: Device, deps: CompareDeps, signal: AbortSignal) {
  const { size, most } = fillShape(device, deps)
  const kept = device.facts.class === 'gpu' ? most : Math.min(most, await affordable(device, deps, signal))
  await fill(device, kept, deps, signal)
  const passSeconds = await timePasses(device, {}, deps, signal)
  await device.release()
  const bytes = kept * roundBytes(size)
  // A pass reads every tile, and for each another one.
  return { bytes, bytesPerSec: Math.round((2 * bytes) / passSeconds) }
}

/** How fast each device reads the memory of each other one; the code of the fault where it cannot. */
export async function measureLinks(devices: readonly Device[], deps: CompareDeps, signal: AbortSignal) {
  if (devices.length < 2) return []
  await Promise.all(devices.map((device) => fill(device, LINKED_ROUNDS, deps, signal)))
  const links: { readonly from: Device; readonly to: Device; readonly bytesPerSec: number | Error }[] = []
  for (const to of devices)
    for (const from of devices.filter((other) => other !== to)) {
      const passSeconds = await timePasses(to, { peer: from }, deps, signal).catch(failure(signal))
      const bytes = LINKED_ROUNDS * roundBytes(fillShape(to, deps).size)
      links.push({ from, to, bytesPerSec: passSeconds instanceof Error ? passSeconds : bytes / passSeconds })
    }
  for (const device of devices) await device.release()
  return links
}

/** What ends the whole bench is not a finding of one link. */
const failure = (signal: AbortSignal) => (error: unknown) => {
  if (signal.aborted || !(error instanceof Error)) throw error
  return error
}

const roundBytes = (size: number): number => (size / TILE) ** 2 * KEPT_TILE_BYTES

function fillShape({ facts }: Device, { size: asked }: CompareDeps) {
  const k = classK(PRESETS.mainnet, facts.class, 'int8')
  const size = Math.min(memorySize(PRESETS.mainnet, facts, k), asked ?? Number.POSITIVE_INFINITY)
  return { k, size, most: keptRounds(PRESETS.mainnet, facts, size, k) }
}

const nobody = () => {}

async function fill(device: Device, kept: number, deps: CompareDeps, signal: AbortSignal): Promise<void> {
  const { size, k } = fillShape(device, deps)
  await device.fill({ m: size, n: size, k, kept, seed: deps.randomness.bytes(32) }, nobody, signal)
}

/** A CPU fills slowly: as many rounds as the wanted time allows. */
async function affordable(device: Device, deps: CompareDeps, signal: AbortSignal): Promise<number> {
  const began = deps.clock.monotonicUs()
  await fill(device, 2, deps, signal)
  const seconds = (deps.clock.monotonicUs() - began) / 1e6
  return Math.max(2, Math.floor((2 * deps.seconds) / seconds))
}

/** Seconds of one pass, of as many as last the wanted time. */
async function timePasses(
  device: Device,
  partner: Pick<PassTask, 'peer'>,
  { clock, randomness, seconds }: CompareDeps,
  signal: AbortSignal,
): Promise<number> {
  const time = async (passes: number) => {
    const began = clock.monotonicUs()
    await device.runPasses({ passes, start: randomness.bytes(32), ...partner }, nobody, signal)
    return (clock.monotonicUs() - began) / 1e6 / passes
  }
  const once = await time(2)
  return await time(Math.min(MOST_PASSES, Math.max(2, Math.ceil(Math.min(seconds, MOST_SECONDS) / once))))
}
