import { openHttp } from '../../drivers/system/askHttp.ts'
import { fault } from '../faults.ts'

/** One event of a stream, as it was sent. */
export interface Told {
  readonly event: string
  readonly data: string
}

const MOST_BYTES = 64 * 1024

/** Server-sent events of a node, until it ends them or the signal fires. One that is longer than any of ours ends it too. */
export async function* watchChain(url: string, signal: AbortSignal): AsyncGenerator<Told> {
  const answer = await openHttp(`${url}/v1/events`, {}, signal).catch((cause: unknown) => {
    signal.throwIfAborted()
    throw fault('NODE_NOT_RUNNING', { url }, cause)
  })
  const isStream = answer.statusCode === 200 && answer.headers['content-type']?.startsWith('text/event-stream')
  if (!isStream) {
    answer.destroy()
    throw fault('NOT_A_NODE', { url })
  }
  const decoder = new TextDecoder()
  let rest = ''
  for await (const bytes of answer) {
    const pieces = (rest + decoder.decode(bytes, { stream: true })).split('\n\n')
    rest = pieces.pop()!
    if (rest.length > MOST_BYTES) throw fault('NOT_A_NODE', { url })
    for (const piece of pieces) yield toldIn(piece)
  }
}

function toldIn(piece: string): Told {
  const field = (name: string) => new RegExp(`^${name}: ?(.*)$`, 'm').exec(piece)?.[1] ?? ''
  return { event: field('event'), data: field('data') }
}
