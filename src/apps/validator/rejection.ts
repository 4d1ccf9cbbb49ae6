import type { RejectReason } from '../../core/proof/reasons.ts'
import type { Answer } from '../../core/wire/messages.ts'
import type { Event } from './proverSession.ts'

/** What a prover said when it could not go on: its own words, printable and short. */
export interface ProverFault {
  readonly code: string
  readonly text: string
}

/** Ends a run from any depth; caught in conductRun, which returns it as the value it is. */
export class Rejection extends Error {
  readonly reason: RejectReason
  /** Said while nothing of the part could yet be opened, so that giving up hides nothing. */
  readonly gaveUp: ProverFault | null
  constructor(reason: RejectReason, gaveUp: ProverFault | null = null) {
    super(reason.code)
    this.reason = reason
    this.gaveUp = gaveUp
  }
}

/** From T0 on: silence, disconnection, garbage and refusal are rejections (§4.3, attack 34). */
export function answerOrReject(event: Event, place: Pick<RejectReason, 'part' | 'device'>): Answer {
  if (event.kind === 'ended') throw new Rejection({ code: 'VANISHED', ...place })
  if (event.kind === 'timeout') throw new Rejection({ code: 'VANISHED', ...place, got: 'silence' })
  if (event.kind === 'malformed') throw new Rejection({ code: 'MALFORMED_MESSAGE', ...place, got: event.what })
  if (event.answer.type === 'fault') throw new Rejection({ code: 'REFUSED', ...place, got: event.answer.code })
  return event.answer
}

/** The same before the nonce of the part is out: a fault is remembered, because another device may still go on (§4.3). */
export function rootOrReject(event: Event, place: { readonly part: number; readonly device: number }): Answer {
  if (event.kind !== 'answer' || event.answer.type !== 'fault') return answerOrReject(event, place)
  const { code, text } = event.answer
  throw new Rejection({ code: 'REFUSED', part: place.part, expected: 'roots', got: code }, { code, text })
}
