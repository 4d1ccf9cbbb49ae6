import { readFileSync } from 'node:fs'
import { whyNotJoin } from '../../apps/provider/whyNotJoin.ts'
import { askOf } from '../../apps/validator/askOf.ts'
import { verifyBox } from '../../apps/validator/verifyBox.ts'
import type { Catalogue } from '../../core/identify/catalogue.ts'
import type { Preset } from '../../core/params/presets.ts'
import { type Requirements, requirementsSchema } from '../../core/score/checkRequirements.ts'
import { homeFolder } from '../../drivers/system/homeFolder.ts'
import { loadSigner } from '../../drivers/system/loadSigner.ts'
import { systemClock } from '../../drivers/system/systemClock.ts'
import { systemRandomness } from '../../drivers/system/systemRandomness.ts'
import { openThreadedChecker } from '../../drivers/verifier/openThreadedChecker.ts'
import { openThisMachine, proverArguments } from '../boxes/openThisMachine.ts'
import { fault } from '../faults.ts'
import { showBox } from '../render/showBox.ts'
import { showSteps } from '../render/showSteps.ts'
import { shownReport, showVerdict } from '../render/showVerdict.ts'
import type { Terminal } from '../render/terminal.ts'
import { programName } from '../version.ts'

export interface SelfCheck {
  readonly preset: Preset
  readonly devices: string
  readonly requirementsFile?: string
  /** What the box is sold as; null where nothing is said. */
  readonly claim: string | null
  readonly catalogue: Catalogue
  readonly env: NodeJS.ProcessEnv
  readonly terminal: Terminal
}

/** Before joining: the run a validator would make, shown as a validator sees it, and what the network would still miss. */
export async function selfCheck(check: SelfCheck, signal: AbortSignal): Promise<void> {
  const { preset, env, terminal, catalogue, claim } = check
  const requirements = check.requirementsFile === undefined ? {} : readRequirements(check.requirementsFile)
  const checker = await openThreadedChecker()
  const options = askOf({ preset, claim, program: programName })
  const signer = loadSigner(homeFolder(env), 'validator', systemRandomness)
  const connect = async () => openThisMachine(env, proverArguments(check.devices, true))
  try {
    const deps = { clock: systemClock, randomness: systemRandomness, signer, checker, catalogue, connect }
    const report = await verifyBox(options, { ...deps, onStep: showSteps(terminal) }, signal)
    terminal.live('')
    showVerdict(shownReport(report, catalogue), terminal)
    showBox(report, terminal)
    const reasons = whyNotJoin(report, requirements)
    if (reasons.length > 0) throw fault('MAY_NOT_JOIN', { reasons: reasons.join('; ') })
  } finally {
    await checker.close()
  }
}

function readRequirements(path: string): Requirements {
  try {
    return requirementsSchema.parse(JSON.parse(readFileSync(path, 'utf8')))
  } catch (cause) {
    throw fault('BAD_REQUIREMENTS', { path, fields: Object.keys(requirementsSchema.shape).join(', ') }, cause)
  }
}
