import { checkSignature } from '../../core/bytes/ed25519.ts'
import { type Challenge, encodeChallenge } from '../../core/proof/challenge.ts'
import type { PartEvidence } from '../../core/proof/evidence.ts'
import type { RejectReason } from '../../core/proof/reasons.ts'
import { readyMessage, resultMessage } from '../../core/proof/signatures.ts'
import { partQuery, verifyRoots } from '../../core/proof/verifyPart.ts'
import type { Answer } from '../../core/wire/messages.ts'
import type { Clock } from '../../ports/clock.ts'
import { type ConductInputs, PartConductor } from './partConductor.ts'
import type { ProverSession } from './proverSession.ts'
import { answerOrReject, type ProverFault, Rejection } from './rejection.ts'
import { endedEarly, notReady, proverFault } from './verifyFaults.ts'

/** Everything a run left behind; rejected as soon as one rule of §4 is broken. */
export interface ConductedRun {
  readonly parts: readonly PartEvidence[]
  readonly readySignature: Uint8Array
  readonly resultSignature: Uint8Array
  readonly rejected: RejectReason | null
  /** Why the prover gave up, where it did so before the nonce of the part under way was out. */
  readonly gaveUp: ProverFault | null
  /** T0 of every part in `parts`, by our clock. */
  readonly startedUs: readonly number[]
}

/** How long a prover may take over things that are not timed. */
const HANDSHAKE_US = 60_000_000

/** §4: ready, then part by part, then the signed result. Faults before T0 throw; from T0 on everything is a verdict. */
export async function conductRun(inputs: ConductInputs, signal: AbortSignal): Promise<ConductedRun> {
  const { session, challenge, clock } = inputs
  const parts: PartEvidence[] = []
  const startedUs: number[] = []
  let readySignature: Uint8Array = new Uint8Array(0)
  try {
    readySignature = await askReady(session, challenge, clock, signal)
    for (let p = 0; p < challenge.parts.length; p++) {
      const conductor = new PartConductor(inputs, p, signal)
      const part = await conductor.conduct()
      const reason = verifyRoots({ challenge, parts: [...parts, part] }, p)
      // What broke the rules is named by the reason; only evidence that keeps them goes into a certificate.
      if (reason) throw new Rejection(reason)
      parts.push(part)
      startedUs.push(conductor.startedUs)
    }
    const resultSignature = await askResult(inputs, parts, signal)
    return { parts, readySignature, resultSignature, rejected: null, gaveUp: null, startedUs }
  } catch (error) {
    if (!(error instanceof Rejection)) throw error
    const { reason: rejected, gaveUp } = error
    return { parts, readySignature, resultSignature: new Uint8Array(0), rejected, gaveUp, startedUs }
  }
}

async function askReady(session: ProverSession, challenge: Challenge, clock: Clock, signal: AbortSignal) {
  await session.send({ type: 'challenge', bytes: encodeChallenge(challenge) })
  const answer = await expectBeforeStart(session, 'ready', clock, signal)
  if (!checkSignature(answer.signature, readyMessage(challenge), challenge.proverKey))
    throw new Rejection({ code: 'BAD_READY_SIGNATURE' })
  return answer.signature
}

async function askResult(
  { session, challenge, clock }: ConductInputs,
  parts: readonly PartEvidence[],
  signal: AbortSignal,
) {
  await session.send({ type: 'finish' })
  const event = await session.next(clock.monotonicUs() + HANDSHAKE_US, signal)
  const answer = answerOrReject(event, {})
  if (answer.type !== 'result')
    throw new Rejection({ code: 'UNEXPECTED_MESSAGE', expected: 'result', got: answer.type })
  const queries = challenge.parts.map((_, p) => partQuery({ challenge, parts }, p))
  if (!checkSignature(answer.signature, resultMessage(challenge, queries), challenge.proverKey))
    throw new Rejection({ code: 'BAD_RESULT_SIGNATURE' })
  return answer.signature
}

/** Before the clock runs a prover that cannot is a fault, not a cheat. */
export async function expectBeforeStart<T extends Answer['type']>(
  session: ProverSession,
  type: T,
  clock: Clock,
  signal: AbortSignal,
): Promise<Extract<Answer, { type: T }>> {
  const event = await session.next(clock.monotonicUs() + HANDSHAKE_US, signal)
  if (event.kind === 'answer' && event.answer.type === type) return event.answer as Extract<Answer, { type: T }>
  if (event.kind === 'answer' && event.answer.type === 'fault') throw proverFault(event.answer)
  if (event.kind === 'ended') throw endedEarly(await session.end(), type)
  throw notReady(SAID[event.kind], type)
}

const SAID = {
  answer: 'sent another message',
  malformed: 'sent bytes that are not a message',
  timeout: 'said nothing for 60 s',
} as const
