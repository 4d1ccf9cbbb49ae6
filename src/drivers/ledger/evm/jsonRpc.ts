import * as z from 'zod'
import { boxWords } from '../../../core/bytes/boxWords.ts'
import { jsonIn } from '../../../core/bytes/jsonIn.ts'
import { printable } from '../../../core/bytes/printable.ts'
import { askHttp } from '../../system/askHttp.ts'
import { fault } from '../faults.ts'

const LIMIT_MS = 10_000
const MOST_BYTES = 1024 * 1024

/** A number as nodes write it: no leading zeros. */
export const quantity = z
  .string()
  .regex(/^0x(0|[1-9a-f][0-9a-f]{0,63})$/)
  .transform(BigInt)

const answer = z.union([
  z.object({ error: z.object({ message: z.string() }) }),
  z.object({ result: z.unknown().refine((value) => value !== undefined) }),
])

/** Calls of one EVM node. It may hang, lie or answer without end: limits of time and size, and every answer has its form. */
export type JsonRpc = <T>(
  method: string,
  params: readonly unknown[],
  form: z.ZodType<T>,
  signal: AbortSignal,
) => Promise<T>

/** Where a node is, without the secret that many have in their path. */
export const shownNode = (url: string): string => new URL(url).host

export function jsonRpc(url: string): JsonRpc {
  const shown = shownNode(url)
  const silent = (why: string, cause?: unknown) => fault('LEDGER_UNREACHABLE', { url: shown, why }, cause)
  return async (method, params, form, signal) => {
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params })
    const question = { method: 'POST', body, headers: { 'content-type': 'application/json' } }
    const { text } = await askHttp(url, { ...question, mostBytes: MOST_BYTES, limitMs: LIMIT_MS }, signal).catch(
      (cause: Error) => {
        signal.throwIfAborted()
        const isLate = cause.name === 'AbortError'
        throw silent(isLate ? `no answer within ${LIMIT_MS / 1000} s` : 'no connection', cause)
      },
    )
    if (text === null) throw silent(`an answer above ${MOST_BYTES} bytes`)
    const told = answer.safeParse(jsonIn(text))
    if (!told.success) throw silent(`no answer to ${method}`)
    if ('error' in told.data)
      throw fault('LEDGER_REFUSED', { url: shown, why: boxWords(printable(told.data.error.message, 120)) })
    const read = form.safeParse(told.data.result)
    if (!read.success) throw silent(`an answer of another form to ${method}`)
    return read.data
  }
}
