import { readFileSync } from 'node:fs'
import { z } from 'zod'
import { boxFacts } from '../../apps/provider/boxFacts.ts'
import { askOf } from '../../apps/validator/askOf.ts'
import { verifyBox } from '../../apps/validator/verifyBox.ts'
import type { Judgement } from '../../core/certificate/judgeRun.ts'
import type { Catalogue } from '../../core/identify/catalogue.ts'
import { explainReasons } from '../../core/identify/claimReasons.ts'
import type { Preset } from '../../core/params/presets.ts'
import { checkRequirements, type Requirements } from '../../core/score/checkRequirements.ts'
import { homeFolder } from '../../drivers/system/homeFolder.ts'
import { loadSigner } from '../../drivers/system/keyFile.ts'
import { systemClock } from '../../drivers/system/systemClock.ts'
import { systemRandomness } from '../../drivers/system/systemRandomness.ts'
import { openThreadedChecker } from '../../drivers/verifier/openThreadedChecker.ts'
import type { TouchstoneError } from '../../ports/errors.ts'
import { openThisMachine, proverArguments } from '../boxes/openBox.ts'
import { fault } from '../faults.ts'
import { showBox } from '../render/showBox.ts'
import { showSteps } from '../render/showSteps.ts'
import { shownReport, showVerdict } from '../render/showVerdict.ts'
import type { Terminal } from '../render/terminal.ts'
import { programName } from '../version.ts'

const positive = z.number().positive()
const requirementsSchema = z.strictObject({
  gpuCount: z.int().positive().optional(),
  gpuMemoryBytes: positive.optional(),
  bf16OpsPerSec: positive.optional(),
  cpuWhetstoneMips: positive.optional(),
  ramBytes: positive.optional(),
  diskBytes: positive.optional(),
  diskBandwidth: positive.optional(),
  models: z.array(z.string()).optional(),
})

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
    const { judgement, inventory } = report
    if (judgement.outcome === 'rejected') throw mayNotJoin([judgement.reason?.code ?? 'rejected'])
    const missing = checkRequirements(boxFacts(judgement, inventory), requirements).map(({ sentence }) => sentence)
    const unmet = unmetClaim(judgement)
    if (missing.length + unmet.length > 0) throw mayNotJoin([...missing, ...unmet])
  } finally {
    await checker.close()
  }
}

const unmetClaim = ({ claim }: Judgement): readonly string[] =>
  claim === null || claim.verdict === 'matches'
    ? []
    : [`claim: ${claim.verdict} (${explainReasons(claim.reasons).join('; ')})`]

function readRequirements(path: string): Requirements {
  try {
    return requirementsSchema.parse(JSON.parse(readFileSync(path, 'utf8'))) as Requirements
  } catch (cause) {
    throw fault('BAD_REQUIREMENTS', { path, fields: Object.keys(requirementsSchema.shape).join(', ') }, cause)
  }
}

const mayNotJoin = (reasons: readonly string[]): TouchstoneError =>
  fault('MAY_NOT_JOIN', { reasons: reasons.join('; ') })
