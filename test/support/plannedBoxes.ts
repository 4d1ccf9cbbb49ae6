import fc from 'fast-check'
import { PRECISION_NAMES, type Precision } from '../../src/core/params/precision.ts'
import { PRESETS } from '../../src/core/params/presets.ts'
import type { PlanInputs, Timings } from '../../src/core/proof/planPart.ts'
import { chooseSize, planRun, planSizing } from '../../src/core/proof/planRun.ts'

const { openings, partSeconds, sustainedSeconds } = PRESETS.mainnet
/** What mainnet asks for. */
export const MAINNET = { preset: PRESETS.mainnet, memory: true, bind: true, openings, partSeconds, sustainedSeconds }

const bytes = fc.integer({ min: 2 ** 31, max: 2 ** 38 })
const device = (deviceClass: 'cpu' | 'gpu') =>
  fc.record({
    class: fc.constant(deviceClass),
    memoryBytes: bytes,
    freeBytes: bytes,
    precisions: fc.subarray([...PRECISION_NAMES]),
    details: fc.constantFrom({}, {}, { peers: false }),
  })
const offeredBy = (devices: readonly { readonly precisions: readonly Precision[] }[]) =>
  PRECISION_NAMES.filter((name) => devices.every(({ precisions }) => precisions.includes(name)))

const box = fc
  .constantFrom('cpu' as const, 'gpu' as const)
  .chain((deviceClass) => fc.array(device(deviceClass), { minLength: 1, maxLength: 4 }))
  // Where the devices have none in common nothing is planned (attack 486).
  .filter((devices) => offeredBy(devices).length > 0)

const seconds = fc.double({ min: 1e-4, max: 2, noNaN: true }).map((gap) => ({ fastest: gap, slowest: 1.5 * gap }))
const timings: fc.Arbitrary<Timings> = fc.array(seconds, { minLength: 8, maxLength: 8 }).map((gaps) => {
  const keys = [...PRECISION_NAMES.map((name) => `rounds ${name}`), 'fill', 'bind int8', 'pass byte']
  return new Map(keys.map((key, i) => [key, key === 'pass byte' ? scaled(gaps[i]!) : gaps[i]!]))
})
const scaled = ({ fastest, slowest }: { readonly fastest: number; readonly slowest: number }) => ({
  fastest: fastest / 1e11,
  slowest: slowest / 1e11,
})

/** Any box, and the plan of mainnet that a calibration with any times makes of it. */
export const planned = fc.tuple(box, timings).map(([devices, times]) => {
  const inputs: PlanInputs = {
    ...MAINNET,
    devices,
    precisions: offeredBy(devices),
    maxSize: 32768,
    roundTripSeconds: 0.02,
  }
  const sizing = planSizing(inputs)
  const plan = planRun(inputs, (precision) => chooseSize(inputs, precision, sizing, times), times)
  return { devices, plan }
})
