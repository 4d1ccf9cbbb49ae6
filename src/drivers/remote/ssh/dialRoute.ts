import { spawn } from 'node:child_process'
import { Duplex } from 'node:stream'
import { stampedBy } from '../../system/stampedSocket.ts'
import type { SshAddress } from './sshAddress.ts'
import type { SshRoute } from './sshRoute.ts'
import { openSession, type SessionOptions } from './sshSession.ts'
import type { SshTarget } from './sshTarget.ts'

/** How a hop is logged in to: its own settings, but our rules for keys and hosts. */
export interface RouteDeps {
  routeOf(target: SshTarget, signal: AbortSignal): Promise<SshRoute>
  optionsFor(route: SshRoute): SessionOptions
}

/** More than anybody has; a jump that leads back to itself must end. */
const MOST_HOPS = 8

type Dial = NonNullable<SessionOptions['dial']>

/** The way to the last server where TCP does not lead there: through other servers, or a program. */
export function dialOf(route: SshRoute, deps: RouteDeps, depth = 0): Dial | undefined {
  if (route.command !== null) return (signal) => dialCommand(route.command!, signal)
  if (route.jumps.length === 0) return undefined
  return (signal) => dialThrough(route, deps, depth, signal)
}

async function dialThrough(route: SshRoute, deps: RouteDeps, depth: number, signal: AbortSignal): Promise<Duplex> {
  if (depth + route.jumps.length > MOST_HOPS) throw new Error(`more than ${MOST_HOPS} jumps`)
  let dial: Dial | undefined
  const hops: SshRoute[] = []
  for (const jump of route.jumps) hops.push(await deps.routeOf(jump, signal))
  for (const [i, hop] of hops.entries()) {
    const next = hops[i + 1]?.to ?? route.to
    // The first hop may have a jump of its own in the settings; those after it are reached through the one before.
    const way = i === 0 ? dialOf(hop, deps, depth + hops.length) : dial
    const options = { ...deps.optionsFor(hop), ...(way === undefined ? {} : { dial: way }) }
    dial = (inner) => openHop(hop.to, options, next, inner)
  }
  return dial!(signal)
}

/** A stream through a server to the next one. With the stream ends the hop, and with a hop all before it. */
async function openHop(hop: SshAddress, options: SessionOptions, next: SshAddress, signal: AbortSignal) {
  const session = await openSession(hop, options, signal)
  try {
    const stream = await session.forward(next.host, next.port, signal)
    stream.once('close', session.abort)
    return stampedBy(stream, session.cameUs)
  } catch (error) {
    session.abort()
    throw error
  }
}

/** A program of the user's own settings, in the user's own shell, as ssh does it. */
async function dialCommand(command: string, signal: AbortSignal): Promise<Duplex> {
  signal.throwIfAborted()
  const child = spawn(command, { shell: true, stdio: ['pipe', 'pipe', 'ignore'] })
  for (const stream of [child, child.stdin, child.stdout]) stream.on('error', () => {})
  const stream = Duplex.from({ readable: child.stdout, writable: child.stdin })
  stream.once('close', () => child.kill())
  child.once('exit', () => stream.destroy())
  return stream
}
