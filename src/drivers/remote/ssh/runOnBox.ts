import { fault } from '../faults.ts'
import { keepLastWords } from '../keepLastWords.ts'
import type { SshSession } from './sshSession.ts'

export interface BoxCommand {
  readonly argv: readonly string[]
  /** For the reader of a fault: "comparing hashes". */
  readonly during: string
  /** Written to its standard input, which is closed afterwards. */
  readonly input?: Uint8Array
  readonly limitMs: number
}

const LIMIT_BYTES = 256 * 1024

/** Runs one short command to its end and returns what it printed, within limits of size and time. */
export async function runOnBox(
  session: SshSession,
  { argv, during, input, limitMs }: BoxCommand,
  signal: AbortSignal,
): Promise<{ readonly code: number | null; readonly out: string; readonly said: string }> {
  const channel = await session.exec(argv, during, signal)
  channel.end(input)
  const said = keepLastWords(channel.stderr)
  const chunks: Buffer[] = []
  let held = 0
  const finished = new Promise<number | null>((resolve, reject) => {
    channel.on('data', (chunk: Buffer) => {
      held += chunk.length
      chunks.push(chunk)
      if (held > LIMIT_BYTES) reject(fault('BOX_FLOODS', { address: session.address, during, limitBytes: LIMIT_BYTES }))
    })
    // It repeats the exit code, whose own event may have come while nobody listened yet.
    channel.once('close', (code?: number | null) => resolve(code ?? null))
  })
  try {
    const code = await session.within(finished, during, signal, limitMs)
    return { code, out: Buffer.concat(chunks).toString('utf8'), said: said() }
  } finally {
    channel.close()
  }
}
