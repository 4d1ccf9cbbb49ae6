import type { BoxReport } from '../../apps/validator/verifyBox.ts'
import type { DeviceJudgement, Judgement } from '../../core/certificate/judgeRun.ts'
import type { Catalogue } from '../../core/identify/catalogue.ts'
import { expectedRate } from '../../core/identify/expected.ts'
import { PRECISION_NAMES } from '../../core/params/precision.ts'
import type { PresetName } from '../../core/params/presets.ts'
import { explainReason, REASONS } from '../../core/proof/reasons.ts'
import { formatBytes, formatBytesPerSecond, formatOps } from '../../core/units/format.ts'
import { bar } from './showSteps.ts'
import type { Terminal } from './terminal.ts'

export interface ShownVerdict {
  readonly judgement: Judgement
  readonly preset: PresetName
  readonly names: readonly string[]
  readonly catalogue: Catalogue
}

const BLOCKS = '▁▂▃▄▅▆▇█'

/** The verdict for a person: what is proven, what is inferred, what is only claimed, and what none of it excludes. */
export function showVerdict({ judgement, preset, names, catalogue }: ShownVerdict, { line, colours }: Terminal): void {
  line('')
  if (judgement.outcome === 'accepted')
    line(`  ${colours.bold(colours.green('GENUINE'))}  the box did the work it was asked, in the time shown`)
  else {
    line(`  ${colours.bold(colours.red('REJECTED'))}  ${explainReason(judgement.reason!)} [${judgement.reason!.code}]`)
    line(`  ${colours.dim('next:')} ${REASONS[judgement.reason!.code].nextStep}`)
  }
  if (preset !== 'mainnet')
    line(`  ${colours.yellow(`preset ${preset} is insecure: it shows that everything works, and identifies no card`)}`)
  for (const device of judgement.devices) showDevice(device, names[device.device] ?? '', catalogue, { line, colours })
  if (judgement.devices.length > 1)
    line(`  together       ${(judgement.scaling ?? 0) / 10} % of the rates alone; ${judgement.count.sentence}`)
  if (judgement.claim) {
    const fits = judgement.claim.verdict === 'matches'
    line(
      `  claim          ${judgement.claim.text}: ${fits ? colours.green(judgement.claim.verdict) : colours.red(judgement.claim.verdict)}`,
    )
    for (const reason of judgement.claim.reasons) line(`                 ${reason}`)
  }
  line('')
  line(colours.dim('  Not excluded: work forwarded to another machine, cards joined by NVLink posing as one,'))
  line(
    colours.dim(
      '  one large card posing as several small ones within the totals. Of a memory rate at least half is proven:',
    ),
  )
  line(colours.dim('  it counts both tiles of every pair, and a clever order could read one of them from a cache.'))
}

type Lines = Pick<Terminal, 'line' | 'colours'>

function showDevice(device: DeviceJudgement, name: string, catalogue: Catalogue, { line, colours }: Lines): void {
  line('')
  line(`  ${colours.bold(`device ${device.device}`)}  ${name} ${colours.dim('(claimed)')}`)
  line(`  inferred       ${identityText(device)}`)
  const model = catalogue.models.find(({ id }) => id === device.identity.model)
  const best = Math.max(...Object.values(device.rates), 1)
  for (const precision of PRECISION_NAMES) {
    const rate = device.rates[precision]
    if (rate === undefined) continue
    const expected = model ? expectedRate(model, precision, catalogue.rules) : null
    const range = expected ? colours.dim(`  expected ${formatOps(expected.low)} to ${formatOps(expected.high)}`) : ''
    const share = Math.log10(Math.max(1, rate)) / Math.log10(best * 1.01)
    const drawn = expected ? bar(rate / expected.high, 24) : bar(Math.max(0, 1 + 4 * (share - 1)), 24)
    line(`  proven ${precision.padEnd(6)}  ${drawn} ${formatOps(rate)}${range}`)
  }
  const { sustained, memory } = device
  if (sustained) {
    const drop = sustained.dips > 0 ? `, ${sustained.dips} dips` : ''
    line(
      `  sustained      ${sparkline(sustained.points)} ${formatOps(sustained.perSecond)} ${sustained.precision}${drop}`,
    )
  }
  if (memory) {
    const floor = !memory.floorBytes
      ? ''
      : `, at least ${formatBytes(memory.floorBytes)} neither recomputed nor sent from elsewhere`
    line(
      `  memory ${memory.status.padEnd(7)} ${formatBytes(memory.heldBytes)} read at ${formatBytesPerSecond(memory.perSecond)}${floor}`,
    )
  }
  if (device.bindShare !== null) line(`  one memory     bind at ${device.bindShare / 10} % of the int8 rate`)
}

function identityText({ identity }: DeviceJudgement): string {
  if (identity.status === 'cpu') return 'a CPU; it is never identified as a GPU'
  if (identity.status === 'insecure') return 'nothing: the preset identifies no card'
  const closest = identity.closest.map(({ model, confidencePercent }) => `${model} ${confidencePercent} %`).join(', ')
  if (identity.status === 'unknown') return `unknown card (closest: ${closest || 'none'})`
  const twins = identity.twins.length > 0 ? ` or its twin ${identity.twins.join(', ')}` : ''
  return `${identity.model}${twins}, ${identity.confidencePercent} % (closest: ${closest})`
}

export function sparkline(points: readonly number[]): string {
  const highest = Math.max(...points, 1)
  return points.map((point) => BLOCKS[Math.min(7, Math.floor((point / highest) * 7.999))]).join('')
}

export const namesOf = (report: Pick<BoxReport, 'inventory'>): string[] =>
  report.inventory.devices.map(({ name }) => name)
