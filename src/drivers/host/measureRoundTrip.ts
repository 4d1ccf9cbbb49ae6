import net from 'node:net'

export interface RoundTrip {
  /** The shortest says how far away the box is; the median what to expect. */
  readonly shortestUs: number
  readonly medianUs: number
}

const LIMIT_MS = 3_000

/** Time to open a TCP connection, by our own clock, `count` times; a box can make it longer, never shorter. */
export async function measureRoundTrip(
  { host, port, count = 5 }: { readonly host: string; readonly port: number; readonly count?: number },
  signal: AbortSignal,
): Promise<RoundTrip | null> {
  const times: number[] = []
  for (let i = 0; i < count; i++) {
    const time = await connectUs(host, port, signal)
    if (time !== null) times.push(time)
  }
  times.sort((a, b) => a - b)
  if (times.length === 0) return null
  return { shortestUs: times[0]!, medianUs: times[Math.floor(times.length / 2)]! }
}

function connectUs(host: string, port: number, signal: AbortSignal): Promise<number | null> {
  signal.throwIfAborted()
  return new Promise((resolve, reject) => {
    const began = process.hrtime.bigint()
    const socket = net.connect({ host, port, timeout: LIMIT_MS })
    const finish = (time: number | null): void => {
      signal.removeEventListener('abort', onAbort)
      socket.destroy()
      resolve(time)
    }
    const onAbort = (): void => {
      socket.destroy()
      reject(signal.reason)
    }
    signal.addEventListener('abort', onAbort, { once: true })
    socket.once('connect', () => finish(Number((process.hrtime.bigint() - began) / 1000n)))
    socket.once('timeout', () => finish(null))
    socket.once('error', () => finish(null))
  })
}
