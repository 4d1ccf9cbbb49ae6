import type { BoxReport } from '../../apps/validator/verifyBox.ts'
import type { Judgement } from '../../core/certificate/judgeRun.ts'
import type { Catalogue } from '../../core/identify/catalogue.ts'
import { explainReasons } from '../../core/identify/claimReasons.ts'
import type { Inventory } from '../../core/inventory/inventory.ts'
import type { PresetName } from '../../core/params/presets.ts'
import { explainReason, REASONS } from '../../core/proof/reasons.ts'
import { deviceLines } from './deviceLines.ts'
import { labelled } from './labelled.ts'
import type { Colours } from './terminal.ts'

/** What a verdict is shown from, in a report and in a certificate. */
export interface ShownVerdict extends Pick<BoxReport, 'judgement' | 'telemetry' | 'faults'> {
  readonly preset: PresetName
  readonly inventory: Inventory
}

/** The verdict for a person: what is proven, what is inferred, what is only claimed, and what none of it excludes. */
export function verdictLines(shown: ShownVerdict, catalogue: Catalogue, colours: Colours): string[] {
  const { judgement, preset, inventory, telemetry } = shown
  const { devices, claim, count, scaling } = judgement
  const insecure = preset === 'mainnet' ? [] : insecureLines(preset, claim !== null)
  const sold = claim?.text ?? null
  return [
    '',
    ...headline(judgement, colours),
    ...insecure.map((text) => colours.yellow(`  ${text}`)),
    ...failedDevices(shown).flatMap((text) => labelled('failed', text).map(colours.yellow)),
    ...devices.flatMap((device) =>
      deviceLines({ device, said: inventory.devices[device.device], catalogue, claim: sold, telemetry }, colours),
    ),
    ...(devices.length > 1 ? [`  together       ${(scaling ?? 0) / 10} % of the rates alone; ${count.sentence}`] : []),
    ...claimLines(claim, colours),
    '',
    ...NOT_EXCLUDED.map((text) => colours.dim(`  ${text}`)),
  ]
}

function claimLines(claim: Judgement['claim'], colours: Colours): string[] {
  if (!claim) return []
  const { text, verdict, reasons } = claim
  const shown = verdict === 'matches' ? colours.green(verdict) : colours.red(verdict)
  return [`  claim          ${text}: ${shown}`, ...explainReasons(reasons).flatMap((reason) => labelled('', reason))]
}

type FailedDevices = Pick<ShownVerdict, 'faults'> & { readonly inventory: Pick<Inventory, 'host'> }

/** Devices the verdict is not about, in the words of the prover. */
export function failedDevices({ faults, inventory }: FailedDevices): string[] {
  const { gpuFaults } = inventory.host
  const closed = typeof gpuFaults === 'string' && gpuFaults !== '' ? [gpuFaults] : []
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
function headline({ reason, claim }: Judgement, { bold, dim, red, yellow, green }: Colours): string[] {
  if (reason)
    return [
      `  ${bold(red('REJECTED'))}  ${explainReason(reason)} [${reason.code}]`,
      `  ${dim('next:')} ${REASONS[reason.code].nextStep}`,
    ]
  if (claim?.verdict === 'unproven')
    return [`  ${bold(yellow('NOT ESTABLISHED'))}  the work is genuine, but neither shows nor refutes what was sold`]
  if (claim !== null && claim.verdict !== 'matches')
    return [`  ${bold(red('NOT AS CLAIMED'))}  the work is genuine, but it is not what was sold`]
  return [`  ${bold(green('GENUINE'))}  the box did the work it was asked to do, in the time shown`]
}
