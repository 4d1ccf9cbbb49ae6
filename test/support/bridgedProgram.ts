import { once } from 'node:events'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import type { ProverProgram } from './inProcessBox.ts'
import { makeRelease } from './makeRelease.ts'

/** On the box: joins its own standard streams to a port of the test, where the program really runs. */
const BRIDGE = `import net from 'node:net'
const socket = net.connect({ port: Number(process.argv[2]), host: '127.0.0.1', noDelay: true })
process.stdin.pipe(socket)
socket.pipe(process.stdout)
socket.on('error', () => process.exit())
socket.on('close', () => process.exit())
console.error('\\x1b]0;chatter of an honest box\\x07')
`

export const makeBridgeRelease = (directory: string): string =>
  makeRelease(directory, { files: { 'bridge.mjs': BRIDGE }, command: ['node', 'bridge.mjs'] })

export interface Bridge {
  readonly port: number
  close(): Promise<void>
}

/** Lets a program of this process be the prover on a real box, behind a real SSH connection. */
export async function bridgeTo(program: ProverProgram): Promise<Bridge> {
  const sockets = new Set<Socket>()
  const server = createServer({ noDelay: true }, (socket) => {
    sockets.add(socket)
    socket.on('error', () => {})
    const gone = new AbortController()
    socket.once('close', () => {
      sockets.delete(socket)
      gone.abort()
    })
    const write = async (bytes: Uint8Array): Promise<void> => {
      if (!socket.write(bytes)) await once(socket, 'drain', { signal: gone.signal }).catch(() => {})
    }
    const input = socket.iterator({ destroyOnReturn: false }) as AsyncIterable<Uint8Array>
    void program({ input, write }, gone.signal)
      .catch(() => {})
      .then(() => socket.end(() => socket.destroy()))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    port: (server.address() as AddressInfo).port,
    close: async () => {
      for (const socket of sockets) socket.destroy()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
