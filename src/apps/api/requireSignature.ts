import type { MiddlewareHandler } from 'hono'
import { checkRequest, SIGNATURE_HEADERS } from '../shared/signedRequest.ts'
import type { ApiDeps } from './apiDeps.ts'
import { problem } from './problem.ts'

/** How far the clocks of asker and validator may differ. Nonces are remembered longer than that. */
const TOLERANCE_MS = 60_000

/** Reading is free; anything else needs a fresh signature of a known key, which works once. */
export function requireSignature({ self, writers, store, clock }: ApiDeps): MiddlewareHandler {
  return async (c, next) => {
    if (c.req.method === 'GET' || c.req.method === 'HEAD') return next()
    if (writers.length === 0) throw refused('READ_ONLY', 'this API is read-only', 'Name keys under api.writers.')
    const header = (name: keyof typeof SIGNATURE_HEADERS) => c.req.header(SIGNATURE_HEADERS[name]) ?? ''
    const [key, time, nonce] = [header('key'), header('time'), header('nonce')]
    if (!writers.includes(key)) throw refused('UNKNOWN_KEY', 'the request names no key that may write', SIGN)
    const skewMs = Math.abs(clock.wallTime().getTime() - Date.parse(time))
    if (!/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/.test(time) || !(skewMs <= TOLERANCE_MS)) {
      const now = clock.wallTime().toISOString()
      throw refused('STALE_REQUEST', `the request is not of this minute; it is ${now} here`, 'Set the clock right.')
    }
    if (!/^[0-9a-f]{32}$/.test(nonce)) throw refused('BAD_NONCE', 'the nonce is not 32 hex digits', SIGN)
    const { pathname, search } = new URL(c.req.url)
    const body = new Uint8Array(await c.req.arrayBuffer())
    const parts = { validator: self, method: c.req.method, path: pathname + search, body, time, nonce }
    if (!checkRequest(parts, key, header('signature')))
      throw refused('BAD_SIGNATURE', 'the signature does not fit the request', SIGN)
    // Last of all: only its owner can use up a nonce.
    if (!(await store.useNonce(`${key}/${nonce}`, 4 * TOLERANCE_MS)))
      throw refused('REPLAYED', 'the request was made before', 'Sign a new one with a fresh nonce.')
    await next()
  }
}

const SIGN = 'Sign this validator’s key, method, path, body, time and nonce as docs/runbook.md shows.'

const refused = (code: string, message: string, nextStep: string) => problem(401, code, message, nextStep)
