import { readFileSync } from 'node:fs'
import { askOf } from '../../apps/validator/askOf.ts'
import type { BoxReport } from '../../apps/validator/verifyBox.ts'
import type { Catalogue } from '../../core/identify/catalogue.ts'
import { explainReasons } from '../../core/identify/claimReasons.ts'
import type { Preset } from '../../core/params/presets.ts'
import { scoreInput } from '../../core/schedule/scoreInput.ts'
import { checkRequirements, type Requirements, requirementsSchema } from '../../core/score/checkRequirements.ts'
import { openThisMachine, proverArguments } from '../boxes/openBox.ts'
import { fault } from '../faults.ts'
import { openTerminal } from '../render/terminal.ts'
import { failedDevices } from '../render/verdictLines.ts'
import { ownKey } from '../system.ts'
import { reportLines, runShown } from '../verify/verifyTarget.ts'
import { programName } from '../version.ts'
import type { ProviderFlags } from './provide.ts'

/** Before joining: the run a validator would make, shown as a validator sees it, and what the network would still miss. */
export async function selfCheck(
  preset: Preset,
  flags: Pick<ProviderFlags, 'claim' | 'devices' | 'requirements' | 'verbose'>,
  { catalogue, env }: { readonly catalogue: Catalogue; readonly env: NodeJS.ProcessEnv },
  signal: AbortSignal,
): Promise<void> {
  const requirements = flags.requirements === undefined ? {} : readRequirements(flags.requirements)
  const terminal = openTerminal(process.stderr, env)
  const options = askOf({ preset, link: false, claim: flags.claim ?? null }, programName)
  const connect = async () => openThisMachine(env, proverArguments(flags.devices, true))
  const askedDevices = flags.devices === 'auto' ? null : flags.devices
  const deps = { signer: ownKey(env, 'validator'), catalogue, connect, askedDevices }
  const report = await runShown(options, deps, terminal, signal)
  const how = { failed: failedDevices(report).length, isVerbose: flags.verbose === true }
  terminal.lines(reportLines({ report, catalogue, file: null, ...how }, terminal))
  const reasons = whyNotJoin(report, requirements, catalogue)
  if (reasons.length > 0) throw fault('MAY_NOT_JOIN', { reasons: reasons.join('; ') })
}

function readRequirements(path: string): Requirements {
  try {
    return requirementsSchema.parse(JSON.parse(readFileSync(path, 'utf8')))
  } catch (cause) {
    throw fault('BAD_REQUIREMENTS', { path, fields: Object.keys(requirementsSchema.shape).join(', ') }, cause)
  }
}

type CheckedBox = Pick<BoxReport, 'judgement' | 'inventory' | 'faults'>

/** Why a network would not take the box that was checked, in sentences; none where it may join. */
export function whyNotJoin(box: CheckedBox, requirements: Requirements, catalogue: Catalogue): readonly string[] {
  const { judgement, inventory } = box
  if (judgement.outcome === 'rejected') return [judgement.reason?.code ?? 'rejected']
  const failed = failedDevices(box).length
  if (failed > 0) return [`devices failed, or did not open: ${failed} (DEVICE_FAILED)`]
  const facts = scoreInput({ judgement, registered: false, allocated: false, claims: inventory.host, catalogue })
  const missing = checkRequirements(facts, requirements).map(({ sentence }) => sentence)
  const { claim } = judgement
  if (claim === null || claim.verdict === 'matches') return missing
  return [...missing, `what --claim says was not shown: ${claim.verdict} (${explainReasons(claim.reasons).join('; ')})`]
}
