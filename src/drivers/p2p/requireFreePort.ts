import { createServer } from 'node:net'
import { codeOf } from '../system/codeOf.ts'
import { fault } from './faults.ts'

/** The library says only that it could not listen: this says why. */
export async function requireFreePort(host: string, port: number): Promise<void> {
  const probe = createServer()
  try {
    await new Promise<void>((resolve, reject) => {
      probe.once('error', reject)
      probe.listen({ host, port, exclusive: true }, resolve)
    })
  } catch (error) {
    const code = String(codeOf(error))
    if (code === 'EADDRINUSE') throw fault('NODE_PORT_IN_USE', { host, port }, error)
    throw fault('NODE_NOT_LISTENING', { host, port, why: code }, error)
  } finally {
    await new Promise<void>((resolve) => probe.close(() => resolve()))
  }
}
