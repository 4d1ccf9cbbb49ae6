import type { z } from 'zod'
import { statusSchema } from '../../apps/api/schemas.ts'
import { signRequest } from '../../apps/shared/signedRequest.ts'
import type { Signer } from '../../core/bytes/ed25519.ts'
import { toHex } from '../../core/bytes/hex.ts'
import { fault } from '../faults.ts'
import { system } from '../system.ts'
import type { ValidatorConfig } from './validatorConfig.ts'

type Told = z.infer<typeof statusSchema>

const LIMIT_MS = 10_000
/** A status takes under a kilobyte. */
const MOST_BYTES = 64 * 1024

/** Where the running validator answers. */
function apiUrl({ api }: ValidatorConfig): string {
  const host = api?.host === '0.0.0.0' || api?.host === '::' ? '127.0.0.1' : (api?.host ?? '127.0.0.1')
  return `http://${host.includes(':') ? `[${host}]` : host}:${api?.port ?? 8787}`
}

const notRunning = (config: ValidatorConfig, cause: unknown) =>
  fault('VALIDATOR_NOT_RUNNING', { url: apiUrl(config) }, cause)

/** What the running validator says of itself. Any program may hold the port: what it says is checked before it is shown. */
export async function readStatus(config: ValidatorConfig): Promise<Told> {
  const text = await answerOf(config)
  try {
    return statusSchema.parse(JSON.parse(text))
  } catch (cause) {
    throw fault('NOT_A_VALIDATOR', { url: apiUrl(config) }, cause)
  }
}

async function answerOf(config: ValidatorConfig): Promise<string> {
  try {
    const response = await fetch(`${apiUrl(config)}/v1/status`, { signal: AbortSignal.timeout(LIMIT_MS) })
    if (!response.ok) throw new Error(`status ${response.status}`)
    return await shortText(response)
  } catch (cause) {
    throw notRunning(config, cause)
  }
}

/** Empty when it is longer than any status: nobody waits for the rest. */
async function shortText({ body }: Response): Promise<string> {
  const decoder = new TextDecoder()
  let text = ''
  for await (const bytes of body ?? []) {
    text += decoder.decode(bytes as Uint8Array, { stream: true })
    if (text.length > MOST_BYTES) return ''
  }
  return text
}

export function showStatus({ program, round, queue, boxes, resultsLastHour, time, ...told }: Told): string {
  const states = countedOf(told.byStatus)
  const verdicts = countedOf(told.byClaimVerdict)
  return [
    `validator   ${program}, ${time}`,
    `boxes       ${boxes}${states === '' ? '' : ` (${states})`}`,
    `claims      ${verdicts === '' ? 'none judged yet' : verdicts}`,
    round
      ? `round       ${round.number}, opened ${round.openedAt}: ${round.done} of ${round.jobs} jobs done, ${round.accepted} accepted, ${round.rejected} rejected`
      : 'round       none yet',
    `queue       ${queue.waiting} waiting, ${queue.leased} under way, ${queue.lagSeconds.toFixed(0)} s behind`,
    `last hour   ${resultsLastHour} ${resultsLastHour === 1 ? 'result' : 'results'}`,
  ].join('\n')
}

const countedOf = (counts: Readonly<Record<string, number>>): string =>
  Object.entries(counts)
    .map(([name, count]) => `${count} ${name}`)
    .join(', ')

/** Sends the running validator a request that is signed with its own key: it is the one that signs and the one that is asked. */
export async function callValidator(
  config: ValidatorConfig,
  [method = '', path = '', body = '']: readonly string[],
  signer: Signer,
): Promise<Response> {
  const time = system.clock.wallTime().toISOString()
  const nonce = toHex(system.randomness.bytes(16))
  const asked = { validator: toHex(signer.publicKey), method: method.toUpperCase(), path, time, nonce }
  const signed = signRequest({ ...asked, body: new TextEncoder().encode(body) }, signer)
  const headers = { ...signed, 'content-type': 'application/json' }
  const sent = { method: asked.method, headers, ...(body === '' ? {} : { body }) }
  return await fetch(`${apiUrl(config)}${path}`, sent).catch((cause: unknown) => {
    throw notRunning(config, cause)
  })
}
