import { request as httpRequest, type IncomingMessage, type RequestOptions } from 'node:http'
import { request as httpsRequest } from 'node:https'
import { withinTime } from './withinTime.ts'

export interface HttpQuestion extends Pick<RequestOptions, 'method' | 'headers' | 'lookup'> {
  readonly body?: string
}

export interface HttpAnswer {
  readonly status: number
  /** Null where it is longer than asked for: nobody waits for the rest. */
  readonly text: string | null
}

/**
 * The head of an answer, whose body is still to be read. Anybody may answer: nobody sends us elsewhere, and what is said to
 * be compressed is not unpacked. Node's `fetch` does, and then waits for ever, or throws where nobody hears it (attacks 297
 * and 298).
 */
export function openHttp(
  url: string | URL,
  { body, ...question }: HttpQuestion,
  signal: AbortSignal,
): Promise<IncomingMessage> {
  const request = new URL(url).protocol === 'https:' ? httpsRequest : httpRequest
  return new Promise((resolve, reject) => {
    const asking = request(url, { ...question, signal, agent: false }, (answer) => {
      // Whoever reads it hears of it; who leaves has no more to say.
      answer.on('error', () => {})
      resolve(answer)
    })
    asking.on('upgrade', (_, socket) => {
      socket.destroy()
      reject(new Error('it answers 101'))
    })
    asking.on('error', reject).end(body)
  })
}

/** The body of an answer, or its size as far as it came. Leaving the loop ends the connection. */
export async function bodyWithin(answer: IncomingMessage, mostBytes: number): Promise<Uint8Array | number> {
  const chunks: Uint8Array[] = []
  let bytes = 0
  for await (const chunk of answer) {
    bytes += chunk.length
    if (bytes > mostBytes) return bytes
    chunks.push(chunk)
  }
  if (!answer.complete) throw new Error('the answer was cut short')
  return Buffer.concat(chunks)
}

/** A short answer that comes soon. */
export async function askHttp(
  url: string,
  { mostBytes, limitMs, ...question }: HttpQuestion & { readonly mostBytes: number; readonly limitMs: number },
  signal: AbortSignal,
): Promise<HttpAnswer> {
  return await withinTime(limitMs, signal, async (inner) => {
    const answer = await openHttp(url, question, inner)
    const body = await bodyWithin(answer, mostBytes)
    return { status: answer.statusCode ?? 0, text: typeof body === 'number' ? null : Buffer.from(body).toString() }
  })
}

export const isOk = ({ status }: HttpAnswer): boolean => status >= 200 && status < 300
