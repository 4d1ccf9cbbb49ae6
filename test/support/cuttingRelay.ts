import net, { type AddressInfo, type Socket } from 'node:net'

export interface CuttingRelay {
  readonly port: number
  /** Bytes that went through since the last order, in both directions. */
  passed(): number
  /** Cuts every connection, without a goodbye, as soon as so many bytes have gone through; null never does. */
  cutAfter(bytes: number | null): void
  cutNow(): void
  close(): Promise<void>
}

/** Stands between a client and a server on loopback. */
export async function startCuttingRelay(target: number): Promise<CuttingRelay> {
  const sockets = new Set<Socket>()
  let passed = 0
  let limit: number | null = null
  const cut = (): void => {
    for (const socket of sockets) socket.destroy()
  }
  const listener = net.createServer({ noDelay: true }, (near) => {
    const far = net.connect({ port: target, host: '127.0.0.1', noDelay: true })
    for (const [socket, other] of [
      [near, far],
      [far, near],
    ] as const) {
      sockets.add(socket)
      socket.on('error', () => {})
      socket.on('data', (chunk) => {
        // What comes after the cut is never seen by the other side, not even in part.
        const left = limit === null ? chunk.length : Math.max(0, Math.min(chunk.length, limit - passed))
        passed += left
        if (left > 0) other.write(chunk.subarray(0, left))
        if (limit !== null && passed >= limit) cut()
      })
      socket.once('close', () => {
        sockets.delete(socket)
        other.destroy()
      })
    }
    if (limit === 0) cut()
  })
  await new Promise<void>((resolve) => listener.listen(0, '127.0.0.1', resolve))
  return {
    port: (listener.address() as AddressInfo).port,
    passed: () => passed,
    cutAfter: (bytes) => {
      passed = 0
      limit = bytes
    },
    cutNow: cut,
    close: async () => {
      cut()
      await new Promise((resolve) => listener.close(resolve))
    },
  }
}
