import type { Catalogue, GpuModel } from '../identify/catalogue.ts'
import { type Expected, expectedBandwidth, expectedRate } from '../identify/expected.ts'
import { type Claim, parseClaim } from '../identify/parseClaim.ts'
import { xidText } from '../inventory/xidText.ts'
import type { BenchDevice, BenchFinding, MeasuredDevice } from './benchReport.ts'
import { expectedModel } from './expectedModel.ts'
import { BENCH_NOTES, BENCH_PROBLEMS, type BenchNote, type BenchProblem } from './findings.ts'

interface Judged {
  readonly devices: readonly BenchDevice[]
  readonly problems: readonly BenchFinding[]
  readonly notes: readonly BenchFinding[]
}

type Found = Pick<BenchFinding, 'device' | 'figure' | 'got'> & { readonly expected?: BenchFinding['expected'] }

export const problem = (code: BenchProblem, found: Found): BenchFinding => ({
  code,
  ...found,
  expected: found.expected ?? null,
  ...BENCH_PROBLEMS[code],
})

export const note = (code: BenchNote, found: Found): BenchFinding => ({
  code,
  ...found,
  expected: found.expected ?? null,
  ...BENCH_NOTES[code],
})

/** Every device against the card it should be, and what its driver says of its health. */
export function judgeBench(measured: readonly MeasuredDevice[], claim: Claim | null, catalogue: Catalogue): Judged {
  const judged = measured.map(({ state, ...device }) => {
    const model = expectedModel({ state, ...device }, claim?.card ?? device.name, catalogue)
    const held = heldAgainst(device, model, catalogue)
    return {
      held,
      problems: [...slowness(held), ...failings(held, state)],
      notes: [...namings(held, claim, catalogue), ...remarks(held, state)],
    }
  })
  const cards = measured.filter((device) => device.class === 'gpu').length
  const missing =
    claim && cards < claim.count
      ? [problem('FEWER_CARDS', { device: null, figure: 'count', got: cards, expected: claim.count })]
      : []
  return {
    devices: judged.map(({ held }) => held),
    problems: [...missing, ...judged.flatMap(({ problems }) => problems)],
    notes: judged.flatMap(({ notes }) => notes),
  }
}

/** A pass only where every device was held against something, and to the run that was named, and nothing was wrong. */
export function benchVerdict({ devices, problems, notes }: Judged) {
  if (problems.length > 0) return 'fail'
  const isJudged = ({ products, memory }: BenchDevice) => [...products, memory].some((one) => one?.expected)
  const isCompared = !notes.some(({ code }) => code === 'NOT_COMPARED')
  return isCompared && devices.every(isJudged) ? 'pass' : 'not-judged'
}

const rangeOf = (expected: Expected | null) => expected && { low: expected.low, high: expected.high }

function heldAgainst(device: Omit<MeasuredDevice, 'state'>, model: GpuModel | null, { rules }: Catalogue): BenchDevice {
  return {
    ...device,
    model: model && { id: model.id, name: model.name },
    products: device.products.map((product) => ({
      ...product,
      expected: model && rangeOf(expectedRate(model, product.precision, rules)),
    })),
    memory: device.memory && { ...device.memory, expected: model && rangeOf(expectedBandwidth(model, rules)) },
  }
}

/** Ranges are those of a proof; a second of it shows a little less: a sound H200 read its memory at 0.992 of the least. */
const SHORT_RUN = 0.95

/** Faster than expected is no failure. */
function slowness({ device, products, memory }: BenchDevice): BenchFinding[] {
  const figures = [
    ...products.flatMap(({ precision, provenOpsPerSec, bareOpsPerSec, expected }) => [
      { figure: `${precision} proven`, got: provenOpsPerSec, expected },
      { figure: `${precision} bare`, got: bareOpsPerSec, expected },
    ]),
    { figure: 'memory', got: memory?.bytesPerSec ?? null, expected: memory?.expected ?? null },
  ]
  return figures.flatMap(({ figure, got, expected }) =>
    got !== null && expected !== null && got < SHORT_RUN * expected.low
      ? [problem('SLOW', { device, figure, got, expected: expected.low })]
      : [],
  )
}

type State = MeasuredDevice['state']

const SELF_PROTECTION = ['hardwareSlowdown', 'thermalHardware', 'powerBrake']

function failings({ device, watched }: BenchDevice, { remapFailed }: State): BenchFinding[] {
  const protecting = watched.throttled.filter(({ reason }) => SELF_PROTECTION.includes(reason))
  return [
    ...protecting.map(({ reason, share }) =>
      problem('HARDWARE_SLOWDOWN', { device, figure: reason, got: percent(share) }),
    ),
    ...watched.xids.map((xid) => problem('DRIVER_ERROR', { device, figure: 'Xid', got: xidText(xid) })),
    ...(watched.eccUncorrected
      ? [problem('MEMORY_ERRORS', { device, figure: 'ECC', got: watched.eccUncorrected, expected: 0 })]
      : []),
    ...(remapFailed === true ? [problem('REMAP_FAILED', { device, figure: 'memory rows', got: 'failed' })] : []),
  ]
}

const percent = (share: number): string => `${Math.round(100 * share)} % of the time`

function namings({ device, name, model, ...rest }: BenchDevice, claim: Claim | null, catalogue: Catalogue) {
  if (rest.class === 'cpu') return [note('IS_A_CPU', { device, figure: 'card', got: name })]
  if (model === null) return [note('NOT_IN_CATALOGUE', { device, figure: 'card', got: name })]
  const told = parseClaim(name, catalogue)
  const isKnown = told.ok && told.claim.models.some(({ id }) => id === model.id)
  return claim && !isKnown ? [note('OTHER_NAME', { device, figure: 'card', got: name, expected: model.name })] : []
}

const SLOWED: readonly (readonly [reason: string, code: BenchNote])[] = [
  ['powerLimit', 'POWER_LIMITED'],
  ['thermalSoftware', 'HOT'],
  ['applicationClocks', 'CLOCKS_HELD'],
]

function remarks(shown: BenchDevice, { eccMode, mig, pcieMaxWidth, virtualization, remappedRows }: State) {
  const { device, watched } = shown
  if (shown.class === 'cpu') return []
  if (watched.samples === 0 || watched.temperatureC === null)
    return [note('NOT_WATCHED', { device, figure: 'telemetry', got: 'none' })]
  const slowed = SLOWED.flatMap(([reason, code]) => {
    const found = watched.throttled.find((one) => one.reason === reason)
    return found ? [note(code, { device, figure: 'clocks', got: percent(found.share) })] : []
  })
  const when = (holds: boolean, code: BenchNote, figure: string, got: string | number, expected?: number) =>
    holds ? [note(code, { device, figure, got, ...(expected === undefined ? {} : { expected }) })] : []
  const others = (watched.processes ?? 1) - 1
  const lanes = watched.pcieWidth ?? 0
  const mostLanes = Number(pcieMaxWidth ?? 0)
  return [
    ...slowed,
    ...when(others > 0, 'OTHER_PROCESSES', 'processes', others, 0),
    ...when(lanes > 0 && lanes < mostLanes, 'PCIE_NARROW', 'PCIe lanes', lanes, mostLanes),
    ...when(eccMode === 'off', 'ECC_OFF', 'ECC', 'off'),
    ...when(mig === true, 'MIG_ON', 'MIG', 'on'),
    ...when(
      virtualization !== undefined && virtualization !== 'none',
      'VIRTUAL',
      'virtualization',
      String(virtualization),
    ),
    ...when(Number(remappedRows ?? 0) > 0, 'REMAPPED_ROWS', 'memory rows', Number(remappedRows)),
  ]
}
