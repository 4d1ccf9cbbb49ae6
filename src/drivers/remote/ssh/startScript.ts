import { randomBytes } from 'node:crypto'
import type { ClientChannel } from 'ssh2'
import { lastWords } from '../../../core/bytes/printable.ts'
import { commandFailed, fault } from '../faults.ts'
import { keepLastWords } from '../keepLastWords.ts'
import type { SshSession } from './sshSession.ts'

interface BoxScript {
  readonly script: string
  readonly args: readonly string[]
  readonly during: string
  /** It prints facts about the box too, between the marker and its end. */
  readonly printsFacts?: boolean
}

export type StartedScript = Awaited<ReturnType<typeof startScript>>

/** A server that keeps to the window of the protocol never has more than 2 MiB under way. */
const HARD_LIMIT_BYTES = 8 * 1024 * 1024
const CHATTER_LIMIT_BYTES = 64 * 1024

/** Starts a script of ours (boxScripts.ts) and reads past its marker, which tells its output from what a login prints. */
export async function startScript(
  session: SshSession,
  { script, args, during, printsFacts = false }: BoxScript,
  signal: AbortSignal,
) {
  const marker = `touchstone-${randomBytes(16).toString('hex')}`
  const channel = await session.exec(['sh', '-c', script, 'sh', marker, ...args], during, signal)
  guardWindow(channel, session)
  const said = keepLastWords(channel.stderr)
  let heard = ''
  const read = async (): Promise<Buffer | null> => {
    const onEnd = (seen: Buffer) => {
      heard = lastWords(seen.toString('utf8'))
    }
    const chatter = await readUntilMarker(channel, marker, onEnd)
    return chatter === null || !printsFacts ? chatter : readUntilMarker(channel, `${marker} end`, onEnd)
  }
  try {
    const facts = await session.within(read(), during, signal)
    if (facts === null) await session.expectLine(during)
    // An account that may not run commands often says so on its standard output.
    if (facts === null) throw commandFailed(session.address, during, said() || heard)
    // What it said is the end of its standard error.
    return { channel, facts: facts.toString('utf8'), said }
  } catch (error) {
    channel.close()
    throw error
  }
}

/** The library trusts a server to respect the window; one that does not must not fill our memory (attack 12). */
function guardWindow(channel: ClientChannel, session: SshSession): void {
  const push = channel.push.bind(channel)
  channel.push = (chunk: Buffer | null) => {
    if (channel.readableLength > HARD_LIMIT_BYTES) {
      session.abort()
      return false
    }
    return push(chunk)
  }
}

/**
 * Takes what a channel prints up to and including the line that is exactly `marker`; what follows stays unread. Returns what
 * came before, or null if the channel ended first or said more than its limit without it; then `onEnd` hears what it said.
 */
function readUntilMarker(
  channel: ClientChannel,
  marker: string,
  onEnd: (seen: Buffer) => void,
): Promise<Buffer | null> {
  const line = Buffer.from(`\n${marker}\n`)
  let seen = Buffer.alloc(0)
  return new Promise((resolve) => {
    const finish = (result: Buffer | null): void => {
      channel.removeListener('readable', take)
      channel.removeListener('end', gone)
      channel.removeListener('close', gone)
      if (result === null) onEnd(seen)
      resolve(result)
    }
    const gone = (): void => finish(null)
    const take = (): void => {
      for (let chunk = channel.read() as Buffer | null; chunk !== null; chunk = channel.read() as Buffer | null) {
        seen = Buffer.concat([seen, chunk])
        const at = seen.indexOf(line)
        if (at < 0 && seen.length <= CHATTER_LIMIT_BYTES) continue
        const rest = at < 0 ? seen.subarray(0, 0) : seen.subarray(at + line.length)
        if (rest.length > 0) channel.unshift(rest)
        finish(at < 0 ? null : seen.subarray(0, at))
        return
      }
    }
    channel.on('readable', take)
    channel.once('end', gone)
    channel.once('close', gone)
    take()
  })
}

interface BoxCommand {
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
    if (code === null) await session.expectLine(during)
    return { code, out: Buffer.concat(chunks).toString('utf8'), said: said() }
  } finally {
    channel.close()
  }
}
