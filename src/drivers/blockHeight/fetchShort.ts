import { askHttp, isOk } from '../system/askHttp.ts'

const LIMIT_MS = 10_000

/** What a node answers, if it is short and comes soon. */
export async function fetchShort(url: string, mostBytes: number, signal: AbortSignal): Promise<string> {
  const answer = await askHttp(url, { mostBytes, limitMs: LIMIT_MS }, signal)
  if (!isOk(answer)) throw new Error(`it answers ${answer.status}`)
  if (answer.text === null) throw new Error('it answers at length')
  return answer.text
}
