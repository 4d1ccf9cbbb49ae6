import type { Signer } from '../../core/bytes/ed25519.ts'
import { PROTOCOL_VERSION } from '../../core/params/constants.ts'
import type { Challenge } from '../../core/proof/challenge.ts'
import type { PlannedPart } from '../../core/proof/partKinds.ts'
import { nonceHash } from '../../core/proof/seeds.ts'
import type { Clock } from '../../ports/clock.ts'
import type { Randomness } from '../../ports/randomness.ts'
import { type ConductedRun, conductRun } from './conductRun.ts'
import type { ConductInputs, Progress } from './partConductor.ts'
import type { ProverSession } from './proverSession.ts'

export interface ChallengeInputs {
  readonly session: ProverSession
  readonly proverKey: Uint8Array
  readonly deviceCount: number
  readonly plan: readonly PlannedPart[]
  readonly signer: Signer
  readonly clock: Clock
  readonly randomness: Randomness
  readonly onProgress?: (progress: Progress) => void
  readonly beforeStart?: NonNullable<ConductInputs['beforeStart']>
}

/** Draws the nonces, issues the challenge for this prover's key and conducts it. */
export async function runChallenge(
  inputs: ChallengeInputs,
  signal: AbortSignal,
): Promise<ConductedRun & { readonly challenge: Challenge }> {
  const { plan, randomness, signer, proverKey, deviceCount, ...rest } = inputs
  const nonces = plan.map(() => randomness.bytes(32))
  const challenge: Challenge = {
    version: PROTOCOL_VERSION,
    runId: randomness.bytes(16),
    validatorKey: signer.publicKey,
    proverKey,
    deviceCount,
    parts: plan.map((part, p) => ({ ...part, nonceHash: nonceHash(nonces[p]!) })),
  }
  return { challenge, ...(await conductRun({ ...rest, challenge, nonces, randomness }, signal)) }
}
