import { routes } from '../../apps/api/routes.ts'
import { signRequest } from '../../apps/shared/signedRequest.ts'
import type { Signer } from '../../core/bytes/ed25519.ts'
import { toHex } from '../../core/bytes/hex.ts'
import { askHttp, type HttpAnswer } from '../../drivers/system/askHttp.ts'
import { type Answer, type Asked, askApi, MOST_ANSWER_BYTES, type Operation } from '../apiClient.ts'
import { fault } from '../faults.ts'
import { system } from '../system.ts'
import type { ValidatorConfig } from './validatorConfig.ts'

/** A validator that runs, and the key to write with. */
export interface RunningValidator {
  readonly config: Pick<ValidatorConfig, 'api'>
  readonly signer?: Signer
}

const LIMIT_MS = 10_000
/** A copy of a large store takes its time. */
const WRITE_LIMIT_MS = 600_000

/** Where the running validator answers. Without an API of its own, whoever answers is somebody else (attack 317). */
export function apiUrl({ api }: Pick<ValidatorConfig, 'api'>): string {
  if (api === null) throw fault('VALIDATOR_WITHOUT_API')
  const host = api.host === '0.0.0.0' || api.host === '::' ? '127.0.0.1' : api.host
  return `http://${host.includes(':') ? `[${host}]` : host}:${api.port}`
}

/** Asks for one operation of the API, typed by its route. */
export const ask = <R extends Operation>(route: R, asked: Asked<R>, to: RunningValidator): Promise<Answer<R>> => {
  const url = apiUrl(to.config)
  return askApi(route, asked, {
    send: (...request) => send(request, to),
    stranger: (cause) => fault('NOT_A_VALIDATOR', { url }, cause),
    refused: ({ code, message, nextStep }) =>
      code === 'STORE_UNAVAILABLE'
        ? fault('STORE_AWAY', { url })
        : fault('VALIDATOR_REFUSED', { url, said: code, why: message, mend: nextStep }),
  })
}

/** Sends a request as it is, signed where there is a key: whoever is asked is the one that signs. */
export async function send(
  [method = '', path = '', body = '']: readonly string[],
  { config, signer }: RunningValidator,
  mostBytes = MOST_ANSWER_BYTES,
): Promise<HttpAnswer> {
  const url = apiUrl(config)
  const upper = method.toUpperCase()
  const signed = signer === undefined || upper === 'GET' ? {} : signedHeaders([upper, path, body], signer)
  const question = { method: upper, headers: { ...signed, 'content-type': 'application/json' }, body, mostBytes }
  const limitMs = upper === 'GET' ? LIMIT_MS : WRITE_LIMIT_MS
  return await askHttp(`${url}${path}`, { ...question, limitMs }, NEVER).catch((cause: unknown) => {
    throw fault('VALIDATOR_NOT_RUNNING', { url }, cause)
  })
}

const NEVER = new AbortController().signal

function signedHeaders([method, path, body]: readonly [string, string, string], signer: Signer) {
  const time = system.clock.wallTime().toISOString()
  const nonce = toHex(system.randomness.bytes(16))
  const parts = { validator: toHex(signer.publicKey), method, path, time, nonce }
  return signRequest({ ...parts, body: new TextEncoder().encode(body) }, signer)
}

/** Boxes of one fleet that are asked for at most. */
const MOST_BOXES = 100_000

type BoxesQuery = NonNullable<Asked<typeof routes.listBoxes>['query']>

/** Every box that a filter lets through, page by page. */
export async function readBoxes(filter: Omit<BoxesQuery, 'after' | 'limit'>, to: RunningValidator) {
  const boxes: Answer<typeof routes.listBoxes>['items'][number][] = []
  let after: string | undefined
  do {
    const { items, next } = await ask(
      routes.listBoxes,
      { query: { ...filter, limit: 200, ...(after && { after }) } },
      to,
    )
    boxes.push(...items)
    // Pages go up by id: another program could otherwise keep us asking for ever.
    if (next !== null && (items.length === 0 || next <= (after ?? ''))) break
    after = next ?? undefined
  } while (after !== undefined && boxes.length < MOST_BOXES)
  return boxes
}
