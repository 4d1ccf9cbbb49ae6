import { boxWords, faultWords } from '../../core/bytes/boxWords.ts'
import { DecodeError } from '../../core/bytes/reader.ts'
import { encodeFrame, FrameDecoder } from '../../core/wire/frames.ts'
import { WORK_ANSWER_TYPES, type WorkAnswer, type WorkOrderMessage } from '../../core/wire/messages.ts'
import type { PatchEvidence } from '../../core/work/checkPatch.ts'
import { splitRoots } from '../../core/work/checkSegment.ts'
import { WORK_REFUSALS } from '../../core/work/refusals.ts'
import type { Clock } from '../../ports/clock.ts'
import type { ProverProcess } from '../../ports/remoteBox.ts'
import { within } from '../shared/within.ts'

/** Why a watched work is not believed. From the seed on silence, delay and garbage are reasons like any other. */
export const WATCH_REASONS = {
  SILENT: 'it said nothing for too long',
  VANISHED: 'it went away before it had shown everything',
  GARBLED: 'what it said is not a message',
  OUT_OF_TURN: 'it said something else than what was due',
  GAVE_UP: 'it gave up',
  REFUSED: 'it says that the work has no result',
  REFUSED_UNSEEN: 'it says that the work has no result, and to find that out here would take too long',
  REFUSED_WRONGLY: 'it said that the work has no result, and a replay here went on beyond that',
  NO_SUCH_RESULT: 'it came to a result that the work does not have',
  BAD_SIGNATURE: 'it did not sign what it had done',
  OTHER_RESULT: 'the result is not the state that it had committed to',
  NOT_SHOWN: 'what was drawn does not hold',
  NOT_ATTESTED: 'what its hardware signed does not hold',
  DISPUTE_LOST: 'it differed from another replica, and is wrong where that was looked at',
  UNHEARD: 'it differed from another replica, and did not answer for it',
  SAME_KEY: 'it has the key of another, and a key counts once',
  TOO_FEW: 'fewer than two replicas are left to be compared',
  NOT_AS_HIDDEN: 'it opened something else than it had committed to',
} as const

export class WorkRejected extends Error {
  readonly code: keyof typeof WATCH_REASONS
  readonly where: string
  /** The segment that was due. */
  readonly segment: number

  constructor(code: keyof typeof WATCH_REASONS, where = '', segment = 0) {
    super(`${WATCH_REASONS[code]}${where === '' ? '' : ` (${where})`}`)
    this.code = code
    this.where = where
    this.segment = segment
  }
}

export type Answered<T extends WorkAnswer['type']> = Extract<WorkAnswer, { type: T }>

/** A line to whoever works. It is read only as far as somebody waits, so nothing piles up here. */
export class ProverLine {
  /** The segment that is due: what it refuses, it refuses there. */
  due = 0
  readonly #process: ProverProcess
  readonly #clock: Clock
  readonly #signal: AbortSignal
  readonly #answers: AsyncGenerator<WorkAnswer>

  constructor(process: ProverProcess, clock: Clock, signal: AbortSignal) {
    this.#process = process
    this.#clock = clock
    this.#signal = signal
    this.#answers = answersIn(process.output)
  }

  /** When the bytes were handed over; whoever is gone shows in `expect`. */
  async send(order: WorkOrderMessage, withinMs = LONGEST_WRITE_MS): Promise<number> {
    const atUs = this.#clock.monotonicUs()
    await within(
      this.#clock,
      withinMs,
      this.#process.write(encodeFrame(order)).catch(() => {}),
    )
    return atUs
  }

  /** The next answer, which must be of this type. */
  async expect<T extends WorkAnswer['type']>(type: T, withinMs: number): Promise<Answered<T>> {
    this.#signal.throwIfAborted()
    const next = await within(this.#clock, withinMs, this.#answers.next(), this.#signal).catch((error: unknown) => {
      throw error instanceof DecodeError ? new WorkRejected('GARBLED', error.message) : error
    })
    this.#signal.throwIfAborted()
    if (next === null) throw new WorkRejected('SILENT', `${type} was due`)
    if (next.done) throw new WorkRejected('VANISHED', await this.#lastWords())
    const answer = next.value
    if (answer.type === 'fault') throw givenUp(answer, this.due)
    if (answer.type !== type) throw new WorkRejected('OUT_OF_TURN', `${answer.type} where ${type} was due`)
    return answer as Answered<T>
  }

  async #lastWords(): Promise<string> {
    const end = await within(this.#clock, LONGEST_END_MS, this.#process.ended)
    return end ? `exit code ${end.code ?? 'unknown'}${end.said && `; its last words: ${boxWords(end.said)}`}` : ''
  }
}

/** A refusal is a word about the work, which any machine would say of it; anything else concerns the box alone (attack 519). */
function givenUp(said: Answered<'fault'>, due: number): WorkRejected {
  const code = Object.hasOwn(WORK_REFUSALS, said.code) ? 'REFUSED' : 'GAVE_UP'
  return new WorkRejected(code, `as it says: ${faultWords(said)}`, due)
}

const LONGEST_WRITE_MS = 30_000
const LONGEST_END_MS = 2_000

async function* answersIn(output: AsyncIterable<Uint8Array>): AsyncGenerator<WorkAnswer> {
  const decoder = new FrameDecoder(WORK_ANSWER_TYPES)
  for await (const chunk of output) for (const answer of decoder.push(chunk)) yield answer as WorkAnswer
}

const hashesIn = (bytes: Uint8Array): readonly Uint8Array[] => {
  if (bytes.length % 32 !== 0) throw new WorkRejected('GARBLED', 'hashes')
  return splitRoots(bytes)
}
export const rootsIn = ({ roots }: Answered<'traced'>): readonly Uint8Array[] => hashesIn(roots)
export const nodesIn = ({ hashes }: Answered<'nodes'>): readonly Uint8Array[] => hashesIn(hashes)

export function patchIn({ leafBytes, bytes }: Answered<'patch'>): PatchEvidence {
  if (leafBytes > bytes.length) throw new WorkRejected('GARBLED', 'patch')
  return { leaves: bytes.subarray(0, leafBytes), proof: bytes.subarray(leafBytes) }
}
