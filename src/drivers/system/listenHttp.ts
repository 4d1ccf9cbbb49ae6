import { once } from 'node:events'
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { serve } from '@hono/node-server'
import { codeOf } from './codeOf.ts'
import { fault } from './faults.ts'
import { keepDoor } from './keepDoor.ts'

/** People who look, at once; watchers of live runs among them. */
const API_PLACES = 1024
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

/** A port that answers "not ready yet" until there is something to answer with. */
export async function listenHttp(
  { host, port }: { readonly host: string; readonly port: number },
  setting = 'api.port',
) {
  let api: Api | null = null
  const starting = () => Response.json({ error: STARTING }, { status: 503, headers: { 'retry-after': '1' } })
  const server = serve({
    fetch: (request, env) => api?.fetch(request, env) ?? starting(),
    hostname: host,
    port,
    serverOptions: { connectionsCheckingInterval: CHECK_MS },
  }) as Server
  const seatOf = keepDoor(server, { places: API_PLACES, idleMs: null })
  const tellWhenCut = cutTeller()
  server.on('request', ({ socket }: IncomingMessage, response: ServerResponse) => {
    seatOf(socket).heard()
    tellWhenCut(socket, response)
  })
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

/**
 * Node tells the answer that is being sent that its connection was cut, and none of those that wait behind it: whatever
 * they hold would be held for ever (attack 193).
 */
function cutTeller(): (socket: Socket, response: ServerResponse) => void {
  const waiting = new WeakMap<Socket, Set<ServerResponse>>()
  const queueOf = (socket: Socket): Set<ServerResponse> => {
    const queue = new Set<ServerResponse>()
    waiting.set(socket, queue)
    socket.once('close', () => {
      for (const response of queue) if (response.socket === null) response.emit('close')
    })
    return queue
  }
  return (socket, response) => {
    const queue = waiting.get(socket) ?? queueOf(socket)
    queue.add(response)
    response.once('close', () => queue.delete(response))
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
