import { fault } from '../faults.ts'
import { keepLastWords } from '../keepLastWords.ts'
import type { SshSession } from './sshSession.ts'

export interface BoxCommand {
  readonly argv: readonly string[]
  /** For the reader of a fault: "comparing hashes". */
  readonly during: string
  /** Written to its standard input, which is closed afterwards. */
  readonly input?: Uint8Array
  readonly limitBytes?: number
  readonly limitMs?: number
}

export const COMMAND_LIMIT_MS = 30_000
const OUTPUT_LIMIT_BYTES = 256 * 1024

/** Runs one short command to its end and returns what it printed, within limits of size and time. */
export async function runOnBox(
  session: SshSession,
  { argv, during, input, limitBytes = OUTPUT_LIMIT_BYTES, limitMs = COMMAND_LIMIT_MS }: BoxCommand,
  signal: AbortSignal,
): Promise<{ readonly code: number | null; readonly out: string; readonly said: string }> {
  signal.throwIfAborted()
  const channel = await within(session, session.exec(argv, during), during, limitMs, signal)
  if (input === undefined) channel.end()
  else channel.end(input)
  const said = keepLastWords(channel.stderr)
  const chunks: Buffer[] = []
  let held = 0
  const finished = new Promise<number | null>((resolve, reject) => {
    channel.on('data', (chunk: Buffer) => {
      held += chunk.length
      chunks.push(chunk)
      if (held > limitBytes) reject(fault('BOX_FLOODS', { address: session.address, during, limitBytes }))
    })
    // It repeats the exit code, whose own event may have come while nobody listened yet.
    channel.once('close', (code?: number | null) => resolve(code ?? null))
  })
  try {
    const code = await within(session, finished, during, limitMs, signal)
    return { code, out: Buffer.concat(chunks).toString('utf8'), said: said() }
  } finally {
    channel.close()
  }
}

/** The promise, or the fault that came first: connection gone, time up, caller gone. */
export async function within<T>(
  session: SshSession,
  promise: Promise<T>,
  during: string,
  limitMs: number,
  signal: AbortSignal,
): Promise<T> {
  let stop = (): void => {}
  const others = new Promise<never>((_, reject) => {
    const timer = setTimeout(() => reject(fault('BOX_TIMEOUT', { address: session.address, during, limitMs })), limitMs)
    const onAbort = (): void => reject(signal.reason)
    signal.addEventListener('abort', onAbort, { once: true })
    void session.gone.then(() =>
      setImmediate(() => reject(fault('BOX_CONNECTION_LOST', { address: session.address, during: during }))),
    )
    stop = () => {
      clearTimeout(timer)
      signal.removeEventListener('abort', onAbort)
    }
  })
  try {
    return await Promise.race([promise, others])
  } finally {
    stop()
    others.catch(() => {})
    promise.catch(() => {})
  }
}
