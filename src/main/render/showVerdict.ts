import type { BoxReport } from '../../apps/validator/verifyBox.ts'
import type { Judgement } from '../../core/certificate/judgeRun.ts'
import type { Catalogue } from '../../core/identify/catalogue.ts'
import { explainReasons } from '../../core/identify/claimReasons.ts'
import type { Inventory } from '../../core/inventory/inventory.ts'
import type { PresetName } from '../../core/params/presets.ts'
import { explainReason, REASONS } from '../../core/proof/reasons.ts'
import { labelled } from './labelled.ts'
import { showDevice } from './showDevice.ts'
import type { Terminal } from './terminal.ts'

export interface ShownVerdict {
  readonly judgement: Judgement
  readonly preset: PresetName
  readonly devices: Inventory['devices']
  readonly catalogue: Catalogue
  /** Samples the cards gave of themselves: claims. */
  readonly telemetry: readonly unknown[]
  /** What the prover said of devices that failed. */
  readonly faults: readonly { readonly code: string; readonly text: string }[]
  readonly host: Inventory['host']
}

/** The verdict for a person: what is proven, what is inferred, what is only claimed, and what none of it excludes. */
export function showVerdict(shown: ShownVerdict, { line, colours }: Terminal): void {
  const { judgement, preset, devices, catalogue, telemetry } = shown
  line('')
  showHeadline(judgement, { line, colours })
  if (preset !== 'mainnet')
    for (const text of insecureLines(preset, judgement.claim !== null)) line(colours.yellow(`  ${text}`))
  for (const text of failedDevices(shown)) for (const row of labelled('failed', text)) line(colours.yellow(row))
  const claim = judgement.claim?.text ?? null
  for (const device of judgement.devices)
    showDevice({ device, said: devices[device.device], catalogue, claim, telemetry }, { line, colours })
  if (judgement.devices.length > 1)
    line(`  together       ${(judgement.scaling ?? 0) / 10} % of the rates alone; ${judgement.count.sentence}`)
  if (judgement.claim) {
    const fits = judgement.claim.verdict === 'matches'
    line(
      `  claim          ${judgement.claim.text}: ${fits ? colours.green(judgement.claim.verdict) : colours.red(judgement.claim.verdict)}`,
    )
    for (const text of explainReasons(judgement.claim.reasons)) for (const row of labelled('', text)) line(row)
  }
  line('')
  for (const text of NOT_EXCLUDED) line(colours.dim(`  ${text}`))
}

/** Devices the verdict is not about, in the words of the prover. */
export function failedDevices({ faults, host }: Pick<ShownVerdict, 'faults' | 'host'>): string[] {
  const closed = typeof host.gpuFaults === 'string' && host.gpuFaults !== '' ? [host.gpuFaults] : []
  return [
    ...faults.map(({ code, text }) => `${text} [${code}]`),
    ...closed.map((text) => `not opened: ${text}; open such a card alone, with --devices, to see what to do`),
  ]
}

/** Its sizes suit no card: an honest one may miss its claim, and a cheat may meet it. */
export const insecureLines = (preset: PresetName, isClaimed: boolean): readonly string[] => [
  `preset ${preset} is insecure: use it for trials only; it identifies no card`,
  ...(isClaimed ? ['do not buy on what it says about a claim: use mainnet'] : []),
]

/** Lines of at most 80 columns. */
const NOT_EXCLUDED = [
  'Not excluded: work forwarded to another machine, cards joined by NVLink posing',
  'as one, one large card posing as several small ones within the totals, a fast',
  'card with less memory posing as one whose memory is slow.',
  'At least half of a memory rate is proven: it counts both tiles of every pair,',
  'and a clever order could read one of them from a cache.',
]

/** Genuine work of another card than was sold must not read as a success. */
function showHeadline({ outcome, reason, claim }: Judgement, { line, colours }: Pick<Terminal, 'line' | 'colours'>) {
  if (outcome === 'rejected') {
    line(`  ${colours.bold(colours.red('REJECTED'))}  ${explainReason(reason!)} [${reason!.code}]`)
    line(`  ${colours.dim('next:')} ${REASONS[reason!.code].nextStep}`)
  } else if (claim?.verdict === 'unproven')
    line(
      `  ${colours.bold(colours.yellow('NOT ESTABLISHED'))}  the work is genuine, but neither shows nor refutes what was sold`,
    )
  else if (claim !== null && claim.verdict !== 'matches')
    line(`  ${colours.bold(colours.red('NOT AS CLAIMED'))}  the work is genuine, but it is not what was sold`)
  else line(`  ${colours.bold(colours.green('GENUINE'))}  the box did the work it was asked to do, in the time shown`)
}

export const shownReport = (report: BoxReport, catalogue: Catalogue): ShownVerdict => {
  const { judgement, preset, inventory, telemetry, faults } = report
  return { judgement, preset, devices: inventory.devices, host: inventory.host, catalogue, telemetry, faults }
}
