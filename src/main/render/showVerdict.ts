import type { BoxReport } from '../../apps/validator/verifyBox.ts'
import type { Judgement } from '../../core/certificate/judgeRun.ts'
import type { Catalogue } from '../../core/identify/catalogue.ts'
import type { PresetName } from '../../core/params/presets.ts'
import { explainReason, REASONS } from '../../core/proof/reasons.ts'
import { showDevice } from './showDevice.ts'
import type { Terminal } from './terminal.ts'

export interface ShownVerdict {
  readonly judgement: Judgement
  readonly preset: PresetName
  readonly names: readonly string[]
  readonly catalogue: Catalogue
  /** Samples the cards gave of themselves: claims. */
  readonly telemetry: readonly unknown[]
}

/** The verdict for a person: what is proven, what is inferred, what is only claimed, and what none of it excludes. */
export function showVerdict(shown: ShownVerdict, { line, colours }: Terminal): void {
  const { judgement, preset, names, catalogue, telemetry } = shown
  line('')
  if (judgement.outcome === 'accepted')
    line(`  ${colours.bold(colours.green('GENUINE'))}  the box did the work it was asked, in the time shown`)
  else {
    line(`  ${colours.bold(colours.red('REJECTED'))}  ${explainReason(judgement.reason!)} [${judgement.reason!.code}]`)
    line(`  ${colours.dim('next:')} ${REASONS[judgement.reason!.code].nextStep}`)
  }
  if (preset !== 'mainnet')
    line(`  ${colours.yellow(`preset ${preset} is insecure: it shows that everything works, and identifies no card`)}`)
  for (const device of judgement.devices)
    showDevice({ device, name: names[device.device] ?? '', catalogue, telemetry }, { line, colours })
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

export const namesOf = (report: Pick<BoxReport, 'inventory'>): string[] =>
  report.inventory.devices.map(({ name }) => name)
