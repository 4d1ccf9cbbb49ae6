import type { z } from 'zod'
import { problemSchema } from '../apps/api/problem.ts'
import { jsonIn } from '../core/bytes/jsonIn.ts'
import { type HttpAnswer, isOk } from '../drivers/system/askHttp.ts'

/** An operation that answers in JSON. */
export interface Operation {
  readonly method: string
  readonly path: string
  readonly responses: {
    readonly 200: { readonly content: { readonly 'application/json': { readonly schema: z.ZodType } } }
  }
}

export type Answer<R extends Operation> = z.output<R['responses'][200]['content']['application/json']['schema']>

type Params<R> = R extends { request: { params: infer P extends z.ZodType } } ? { params: z.input<P> } : object
type Query<R> = R extends { request: { query: infer Q extends z.ZodType } } ? { query?: z.input<Q> } : object
type Body<R> = R extends {
  request: { body: { content: { 'application/json': { schema: infer B extends z.ZodType } } } }
}
  ? { body: z.input<B> }
  : object

/** What an operation must be given, by its route. */
export type Asked<R> = Params<R> & Query<R> & Body<R>

/** What a program said that refused. */
export type Refusal = Readonly<Record<'code' | 'message' | 'nextStep', string>>

/** Where an API is, and what is told of it when it does not answer as it should. */
export interface ApiPlace {
  send(method: string, path: string, body: string): Promise<HttpAnswer>
  /** Whatever answers is not what was asked. */
  stranger(cause: unknown): Error
  refused(said: Refusal): Error
}

/** A page has at most 1 MiB, or one item that is larger. */
export const MOST_ANSWER_BYTES = 4 * 1024 * 1024
/** Of what somebody else says, as much as a sentence may have. */
const MOST_WORDS = 300

/** Asks for one operation of an API, typed by its route. Any program may hold the port: what it says is checked first. */
export async function askApi<R extends Operation>(route: R, asked: Asked<R>, place: ApiPlace): Promise<Answer<R>> {
  const { params = {}, query = {}, body } = asked as { params?: object; query?: object; body?: unknown }
  const path = route.path.replace(/\{(\w+)\}/g, (_, name: string) =>
    encodeURIComponent(String((params as Record<string, unknown>)[name])),
  )
  const given = Object.entries(query).filter(([, value]) => value !== undefined && value !== null)
  const search = new URLSearchParams(given.map(([name, value]) => [name, String(value)] as [string, string])).toString()
  const content = body === undefined ? '' : JSON.stringify(body)
  const answer = await place.send(route.method, search === '' ? path : `${path}?${search}`, content)
  const text = answer.text ?? ''
  if (!isOk(answer)) throw refusal(text, place)
  const read = route.responses[200].content['application/json'].schema.safeParse(jsonIn(text))
  if (!read.success) throw place.stranger(read.error)
  return read.data as Answer<R>
}

/** Why it did not do what was asked, or that it is something else altogether. */
function refusal(text: string, place: ApiPlace): Error {
  const read = problemSchema.safeParse(jsonIn(text))
  if (!read.success) return place.stranger(read.error)
  const { code, message, nextStep } = read.data.error
  const short = (words: string): string => words.slice(0, MOST_WORDS)
  return place.refused({ code: short(code), message: short(message), nextStep: short(nextStep) })
}
