import type { createApi } from '../../src/apps/api/createApi.ts'
import { signRequest } from '../../src/apps/shared/signedRequest.ts'
import { toHex } from '../../src/core/bytes/hex.ts'
import { testSigner } from './testSigner.ts'

const writer = testSigner(3)
/** Who may write, and to whom. */
export const WRITER = toHex(writer.publicKey)
export const VALIDATOR = toHex(testSigner(5).publicKey)

/** What a test changes after signing, or signs in place of what is right. */
export type Sent = Partial<Record<'validator' | 'time' | 'nonce' | 'path' | 'body' | 'raw', string>> & {
  readonly headers?: Readonly<Record<string, string>>
}

/** A signed write. */
export async function signedWrite(
  api: ReturnType<typeof createApi>,
  method: string,
  path: string,
  body: unknown,
  sent: Sent = {},
) {
  const text = sent.raw ?? (body === undefined ? '' : JSON.stringify(body))
  const time = sent.time ?? new Date().toISOString()
  const nonce = sent.nonce ?? toHex(crypto.getRandomValues(new Uint8Array(16)))
  const signed = signRequest(
    { validator: sent.validator ?? VALIDATOR, method, path, body: new TextEncoder().encode(text), time, nonce },
    writer,
  )
  const headers = { ...signed, 'content-type': 'application/json', ...sent.headers }
  const content = sent.body ?? text
  const response = await api.request(sent.path ?? path, {
    method,
    headers,
    ...(content === '' ? {} : { body: content }),
  })
  return { status: response.status, body: (await response.json()) as { done?: boolean; error?: { code: string } } }
}
