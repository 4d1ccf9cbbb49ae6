import type { Precision } from '../params/precision.ts'
import type { BenchChange, BenchDevice, BenchFinding, BenchReport } from './benchReport.ts'
import { note, problem } from './judgeBench.ts'

type Run = Pick<BenchReport, 'devices' | 'links'>

interface Figure {
  readonly figure: string
  readonly value: number | null
  /** Figures of other work are not alike. */
  readonly work: string
  /** Of memory: how much was free differs a little from run to run. */
  readonly bytes?: number
}

const isSameWork =
  ({ figure, work, bytes = 1 }: Figure) =>
  (other: Figure): boolean =>
    figure === other.figure && work === other.work && Math.abs(Math.log2(bytes / (other.bytes ?? 1))) < 0.5

/** Figures of one device. Pageable copies go by how busy the host is: they are shown, and not compared. */
function figuresOf({ products, memory, transfers }: BenchDevice): readonly Figure[] {
  return [
    ...products.flatMap(({ precision, size, k, provenOpsPerSec, bareOpsPerSec }) => [
      { figure: `${precision} proven`, value: provenOpsPerSec, work: `${size} ${k}` },
      { figure: `${precision} bare`, value: bareOpsPerSec, work: `${size} ${k}` },
    ]),
    { figure: 'memory', value: memory?.bytesPerSec ?? null, work: '', bytes: memory?.bytes || 1 },
    { figure: 'to the card', value: transfers?.pinned.toCard ?? null, work: '' },
    { figure: 'to the host', value: transfers?.pinned.toHost ?? null, work: '' },
  ]
}

/** A card is the same by its UUID wherever it stands in the list; what has none in either run by its place and name. */
const sameDevice = (a: BenchDevice) => (b: BenchDevice) =>
  a.uuid === b.uuid && (a.uuid !== null || (a.device === b.device && a.name === b.name))

const pairsOf = (before: Run, now: Run) =>
  now.devices.flatMap((device) => {
    const then = before.devices.find(sameDevice(device))
    return then ? [{ device, then }] : []
  })

/** Every figure that both runs have, then and now. */
export function changesBetween(before: Run, now: Run): BenchChange[] {
  const pairs = pairsOf(before, now)
  const ofDevices = pairs.flatMap(({ device, then }) => {
    const old = figuresOf(then)
    return figuresOf(device).flatMap((one) => {
      const was = old.find(isSameWork(one))?.value
      const { figure, value } = one
      return was && value !== null ? [{ device: device.device, figure, before: was, now: value }] : []
    })
  })
  const numberThen = (number: number) => pairs.find(({ device }) => device.device === number)?.then.device
  const ofLinks = now.links.flatMap(({ from, to, bytesPerSec }) => {
    const then = before.links.find((link) => link.from === numberThen(from) && link.to === numberThen(to))
    return then?.bytesPerSec && bytesPerSec !== null
      ? [{ device: to, figure: `from card ${from}`, before: then.bytesPerSec, now: bytesPerSec }]
      : []
  })
  return [...ofDevices, ...ofLinks]
}

/** Two runs on one sound H200 had 17 and 13 GB/s to the card: these go by how busy the host is, and judge nothing. */
const OF_THE_HOST = ['to the card', 'to the host']

/** Cards of either run whose speed nothing in the other one judges (attack 264), and what else is gone (attack 339). */
export function notCompared(
  before: Run,
  now: Run,
  changes: readonly BenchChange[],
  precisions: readonly Precision[],
  isAsked: (device: BenchDevice) => boolean,
): BenchFinding[] {
  const isHeld = ({ device }: BenchDevice) =>
    changes.some((change) => change.device === device && / (proven|bare)$/.test(change.figure))
  const isGone = (then: BenchDevice) => isAsked(then) && !now.devices.some((device) => sameDevice(device)(then))
  const found = (device: number | null, got: string) => note('NOT_COMPARED', { device, figure: 'card', got })
  const pairs = pairsOf(before, now).filter(({ device }) => isHeld(device))
  const lost = [...pairs.flatMap(lostFigures(precisions)), ...lostLinks(before, pairs)].filter(
    ({ device, figure }) => !changes.some((change) => change.device === device && change.figure === figure),
  )
  return [
    ...now.devices.filter((device) => !isHeld(device)).map(({ device, name }) => found(device, name)),
    ...before.devices.filter(isGone).map(({ name }) => found(null, name)),
    ...lost.map((one) => note('NOT_COMPARED', one)),
  ]
}

type Pair = ReturnType<typeof pairsOf>[number]

/** What a card showed, with what it shows of that now, at whatever size. */
const lostFigures =
  (precisions: readonly Precision[]) =>
  ({ device, then }: Pair) => {
    const products = then.products.filter(({ precision }) => precisions.includes(precision))
    const judging = figuresOf({ ...then, products }).filter(({ figure }) => !OF_THE_HOST.includes(figure))
    return judging.flatMap(({ figure, value }) => {
      const got = figuresOf(device).find((one) => one.figure === figure)?.value ?? 'none'
      return value ? [{ device: device.device, figure, got, expected: value }] : []
    })
  }

function lostLinks({ links }: Run, pairs: readonly Pair[]) {
  const numberNow = (number: number) => pairs.find(({ then }) => then.device === number)?.device.device
  return links.flatMap(({ from, to, bytesPerSec }) => {
    const [source, device] = [numberNow(from), numberNow(to)]
    if (!bytesPerSec || source === undefined || device === undefined) return []
    return [{ device, figure: `from card ${source}`, got: 'none', expected: bytesPerSec }]
  })
}

/** What fell by more than is tolerated. */
export const slowerThanBefore = (changes: readonly BenchChange[], tolerated: number): BenchFinding[] =>
  changes
    .filter(({ figure, before, now }) => !OF_THE_HOST.includes(figure) && now < before * (1 - tolerated))
    .map(({ device, figure, before, now }) =>
      problem('SLOWER_THAN_BEFORE', { device, figure, got: now, expected: before }),
    )
