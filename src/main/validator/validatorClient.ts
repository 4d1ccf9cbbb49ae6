import type { z } from 'zod'
import { problemSchema } from '../../apps/api/problem.ts'
import { routes } from '../../apps/api/routes.ts'
import { signRequest } from '../../apps/shared/signedRequest.ts'
import type { Signer } from '../../core/bytes/ed25519.ts'
import { toHex } from '../../core/bytes/hex.ts'
import { fault } from '../faults.ts'
import { system } from '../system.ts'
import type { ValidatorConfig } from './validatorConfig.ts'

/** An operation that answers in JSON. */
interface Operation {
  readonly method: string
  readonly path: string
  readonly responses: {
    readonly 200: { readonly content: { readonly 'application/json': { readonly schema: z.ZodType } } }
  }
}

type Answer<R extends Operation> = z.output<R['responses'][200]['content']['application/json']['schema']>

type Params<R> = R extends { request: { params: infer P extends z.ZodType } } ? { params: z.input<P> } : object
type Query<R> = R extends { request: { query: infer Q extends z.ZodType } } ? { query?: z.input<Q> } : object
type Body<R> = R extends {
  request: { body: { content: { 'application/json': { schema: infer B extends z.ZodType } } } }
}
  ? { body: z.input<B> }
  : object

/** What an operation must be given, by its route. */
type Asked<R> = Params<R> & Query<R> & Body<R>

/** A validator that runs, and the key to write with. */
export interface RunningValidator {
  readonly config: Pick<ValidatorConfig, 'api'>
  readonly signer?: Signer
}

const LIMIT_MS = 10_000
/** A copy of a large store takes its time. */
const WRITE_LIMIT_MS = 600_000
/** A page has at most 1 MiB, or one item that is larger. */
const MOST_BYTES = 4 * 1024 * 1024
/** Of what somebody else says, as much as a sentence may have. */
const MOST_WORDS = 300

/** Where the running validator answers. */
function apiUrl({ api }: Pick<ValidatorConfig, 'api'>): string {
  const host = api?.host === '0.0.0.0' || api?.host === '::' ? '127.0.0.1' : (api?.host ?? '127.0.0.1')
  return `http://${host.includes(':') ? `[${host}]` : host}:${api?.port ?? 8787}`
}

/** Asks for one operation of the API, typed by its route. Any program may hold the port: what it says is checked first. */
export async function ask<R extends Operation>(route: R, asked: Asked<R>, to: RunningValidator): Promise<Answer<R>> {
  const { params = {}, query = {}, body } = asked as { params?: object; query?: object; body?: unknown }
  const path = route.path.replace(/\{(\w+)\}/g, (_, name: string) =>
    encodeURIComponent(String((params as Record<string, unknown>)[name])),
  )
  const given = Object.entries(query).filter(([, value]) => value !== undefined && value !== null)
  const search = new URLSearchParams(given.map(([name, value]) => [name, String(value)] as [string, string])).toString()
  const content = body === undefined ? '' : JSON.stringify(body)
  const response = await send([route.method, search === '' ? path : `${path}?${search}`, content], to)
  const text = await shortText(response).catch(() => '')
  if (!response.ok) throw refusal(text, to)
  const read = route.responses[200].content['application/json'].schema.safeParse(parsed(text))
  if (!read.success) throw fault('NOT_A_VALIDATOR', { url: apiUrl(to.config) }, read.error)
  return read.data as Answer<R>
}

/** Sends a request as it is, signed where there is a key: whoever is asked is the one that signs. */
export async function send(
  [method = '', path = '', body = '']: readonly string[],
  { config, signer }: RunningValidator,
): Promise<Response> {
  const upper = method.toUpperCase()
  const signed = signer === undefined || upper === 'GET' ? {} : signedHeaders([upper, path, body], signer)
  const signal = AbortSignal.timeout(upper === 'GET' ? LIMIT_MS : WRITE_LIMIT_MS)
  const headers = { ...signed, 'content-type': 'application/json' }
  return await fetch(`${apiUrl(config)}${path}`, {
    method: upper,
    headers,
    signal,
    ...(body === '' ? {} : { body }),
  }).catch((cause: unknown) => {
    throw fault('VALIDATOR_NOT_RUNNING', { url: apiUrl(config) }, cause)
  })
}

function signedHeaders([method, path, body]: readonly [string, string, string], signer: Signer) {
  const time = system.clock.wallTime().toISOString()
  const nonce = toHex(system.randomness.bytes(16))
  const parts = { validator: toHex(signer.publicKey), method, path, time, nonce }
  return signRequest({ ...parts, body: new TextEncoder().encode(body) }, signer)
}

/** Empty when it is longer than any answer: nobody waits for the rest. */
async function shortText({ body }: Response): Promise<string> {
  const decoder = new TextDecoder()
  let text = ''
  for await (const bytes of body ?? []) {
    text += decoder.decode(bytes as Uint8Array, { stream: true })
    if (text.length > MOST_BYTES) return ''
  }
  return text
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** Why it did not do what was asked: its store is away, it says why, or it is no validator at all. */
function refusal(text: string, { config }: RunningValidator) {
  const url = apiUrl(config)
  const read = problemSchema.safeParse(parsed(text))
  if (!read.success) return fault('NOT_A_VALIDATOR', { url }, read.error)
  const { code, message, nextStep } = read.data.error
  if (code === 'STORE_UNAVAILABLE') return fault('STORE_AWAY', { url })
  const [said, why, mend] = [code, message, nextStep].map((words) => words.slice(0, MOST_WORDS)) as [
    string,
    string,
    string,
  ]
  return fault('VALIDATOR_REFUSED', { url, said, why, mend })
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
