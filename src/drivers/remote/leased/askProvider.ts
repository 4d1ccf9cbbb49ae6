import type { Signer } from '../../../core/bytes/ed25519.ts'
import { toHex } from '../../../core/bytes/hex.ts'
import { decodeAnswer, encodeAsk, type LeaseAnswerMessage, type LeaseAsk } from '../../../core/lease/leaseMessages.ts'
import type { MessageChannel } from '../../../ports/leases.ts'
import { inTime } from '../../system/inTime.ts'
import { fault } from '../faults.ts'

/** One provider and the channel to it, whoever dialled. */
export interface ProviderLine {
  readonly channel: MessageChannel
  /** Hex of its Ed25519 key; answers of anybody else are refused. */
  readonly key: string
  /** The numeric address where it was reached; nothing where it dialled in to us. */
  readonly reached?: string
}

const ANSWER_MS = 60_000

/** Each is a signature to check, on the thread by whose clock boxes are measured (attack 431). */
const MOST_OTHERS = 8

/** Sends one question and waits for its answer; what belongs to other questions is passed over. */
export async function askProvider(
  { channel, key }: ProviderLine,
  message: LeaseAsk,
  signer: Signer,
  signal: AbortSignal,
  limitMs = ANSWER_MS,
): Promise<LeaseAnswerMessage> {
  signal.throwIfAborted()
  const endMs = performance.now() + limitMs
  const late = () => {
    throw fault('PROVIDER_SILENT', { limitMs })
  }
  const soon = <T>(work: Promise<T>): Promise<T> =>
    inTime(work, Math.max(1, endMs - performance.now()), late, signal).catch((error: unknown) => {
      // An answer that comes after all would be taken for that of the next question.
      channel.close()
      throw error
    })
  // Who reads nothing is as one who says nothing (attack 460).
  await soon(channel.send(encodeAsk(message, signer)))
  const reader = channel.messages[Symbol.asyncIterator]()
  let others = 0
  for (;;) {
    const next = await soon(reader.next())
    // A provider does not answer what is meant for another key.
    if (next.done) throw fault('PROVIDER_GONE')
    const answer = readAnswer(next.value, key, signer)
    if (answer.kind !== 'hello' && belongsTo(answer, message)) return answer
    if (++others > MOST_OTHERS) {
      channel.close()
      throw nonsense('the provider answers what nobody asked')
    }
  }
}

function readAnswer(bytes: Uint8Array, key: string, signer: Signer): LeaseAnswerMessage {
  try {
    const { from, message } = decodeAnswer(bytes, toHex(signer.publicKey))
    if (from === key) return message
  } catch {
    // Said below: what it was does not matter to the reader.
  }
  throw nonsense('the provider answered with something that is not signed by its key')
}

const nonsense = (what: string) => fault('PROVIDER_NONSENSE', { what })

function belongsTo(answer: LeaseAnswerMessage, ask: LeaseAsk): boolean {
  if (ask.kind === 'liveness') return answer.kind === 'alive' ? answer.nonce === ask.nonce : answer.kind === 'refused'
  return 'id' in answer && answer.id === ask.id
}
