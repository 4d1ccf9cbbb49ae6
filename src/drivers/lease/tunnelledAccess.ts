import { randomBytes } from 'node:crypto'
import net from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { createWebSocketStream } from 'ws'
import type { BoxAccess } from '../../ports/leases.ts'
import { dialWs, TUNNEL } from '../system/wsChannel.ts'

const REDIAL_MS = 500

/**
 * For a box behind NAT: while a lease is open, one connection to the validator stands ready and is joined to our own SSH
 * server as soon as the first byte comes; then the next one is dialled. The token in the sealed details says which is which.
 */
export function tunnelledAccess(
  inner: BoxAccess,
  { url, sshPort }: { readonly url: string; readonly sshPort: number },
): BoxAccess {
  const running = new Map<string, AbortController>()
  return {
    open: async (lease, signal) => {
      const details = await inner.open(lease, signal)
      const token = randomBytes(32).toString('hex')
      const stop = new AbortController()
      running.set(lease.id, stop)
      void keepTunnel(url, sshPort, token, stop.signal)
      return { ...details, tunnel: token }
    },
    close: async (id) => {
      running.get(id)?.abort()
      running.delete(id)
      await inner.close(id)
    },
  }
}

async function keepTunnel(url: string, sshPort: number, token: string, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    await oneTunnel(url, sshPort, token, signal).catch(() => {})
    await delay(REDIAL_MS, undefined, { signal }).catch(() => {})
  }
}

/** Resolves once the tunnel is in use, or has ended without. */
async function oneTunnel(url: string, sshPort: number, token: string, signal: AbortSignal): Promise<void> {
  const socket = await dialWs(new URL('/tunnel', url).href, TUNNEL, signal)
  socket.send(Buffer.from(token, 'hex'))
  const far = createWebSocketStream(socket)
  const end = (): void => socket.terminate()
  signal.addEventListener('abort', end, { once: true })
  socket.once('close', () => signal.removeEventListener('abort', end))
  far.on('error', end)
  await new Promise<void>((resolve) => {
    far.once('close', resolve)
    far.once('readable', () => {
      const near = net.connect({ port: sshPort, host: '127.0.0.1', noDelay: true })
      near.on('error', end)
      near.once('close', end)
      far.once('close', () => near.destroy())
      far.pipe(near)
      near.pipe(far)
      resolve()
    })
  })
}
