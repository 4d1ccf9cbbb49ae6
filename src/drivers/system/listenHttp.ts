import { once } from 'node:events'
import type { IncomingMessage, Server } from 'node:http'
import { type HttpBindings, serve } from '@hono/node-server'
import { codeOf } from './codeOf.ts'
import { fault } from './faults.ts'
import { ENTRIES, keepDoor } from './keepDoor.ts'

/** People who look, at once; watchers of live runs among them. */
const API_PLACES = 1024
/** More than any route takes, each of which has a limit of its own. */
const MOST_BODY_BYTES = 512 * 1024
/** How often Node looks for requests that never end. */
const CHECK_MS = 5_000

const STARTING = {
  code: 'STARTING',
  message: 'the program is not ready yet',
  nextStep: 'Ask again in a few seconds.',
}

interface Api {
  fetch(request: Request, env: object): Response | Promise<Response>
}

interface Place {
  readonly host: string
  readonly port: number
  /** What one asker may ask: behind a proxy that opens a connection for each, all askers are one. */
  readonly requestsPerMinute?: number
}

/** A port that answers "not ready yet" until there is something to answer with. */
export async function listenHttp({ host, port, requestsPerMinute = 0 }: Place, setting = 'api.port') {
  let api: Api | null = null
  const starting = () => Response.json({ error: STARTING }, { status: 503, headers: { 'retry-after': '1' } })
  const server = serve({
    fetch: (request, env) => {
      const { incoming, outgoing } = env as HttpBindings
      // It waits behind another, and would keep whatever it holds if the connection was cut (attack 193).
      if (outgoing.socket === null) incoming.socket.destroy()
      // Also where the door has refused it: nobody hears the answer.
      return incoming.socket.destroyed ? starting() : (api?.fetch(request, env) ?? starting())
    },
    hostname: host,
    port,
    serverOptions: { connectionsCheckingInterval: CHECK_MS },
  }) as Server
  const entries = {
    atOnce: Math.max(ENTRIES.atOnce, requestsPerMinute / 4),
    perSecond: Math.max(ENTRIES.perSecond, requestsPerMinute / 60),
  }
  const seatOf = keepDoor(server, { places: API_PLACES, idleMs: null, mostBody: MOST_BODY_BYTES, entries })
  server.on('request', ({ socket }: IncomingMessage) => seatOf(socket).heard())
  try {
    await once(server, 'listening')
  } catch (cause) {
    throw cannotListen({ host, port, part: 'the API cannot listen', setting }, cause)
  }
  const address = server.address()
  return {
    at: { host, port: typeof address === 'object' && address ? address.port : port },
    open: (made: Api) => {
      api = made
    },
    close: () =>
      new Promise<void>((done) => {
        server.close(() => done())
        server.closeAllConnections()
      }),
  }
}

/** A port that cannot be had: whose setting it is, and whether another program uses it. */
export function cannotListen(
  asked: { readonly host: string; readonly port: number; readonly part: string; readonly setting: string },
  cause: unknown,
) {
  const code = codeOf(cause) || 'unknown'
  const why = code === 'EADDRINUSE' ? 'another program uses the port' : code
  return fault('CANNOT_LISTEN', { ...asked, why }, cause)
}
