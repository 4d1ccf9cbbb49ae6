import { randomBytes } from 'node:crypto'
import { PassThrough } from 'node:stream'
import type { ClientChannel } from 'ssh2'
import type { ProverEnd, ProverProcess } from '../../../ports/remoteBox.ts'
import { inTime } from '../../system/inTime.ts'
import { commandFailed, fault } from '../faults.ts'
import { keepLastWords } from '../keepLastWords.ts'
import { START_PROVER } from './boxScripts.ts'
import { readUntilMarker } from './readUntilMarker.ts'
import type { SshSession } from './sshSession.ts'
import type { Workspace } from './workspace.ts'

export interface ProverStart {
  readonly session: SshSession
  readonly workspace: Workspace
  readonly number: number
  readonly folder: string
  readonly command: readonly string[]
  readonly keep: boolean
  readonly graceMs?: number | undefined
}

/** What may wait for the reader before the box is told to wait. */
const HELD_BYTES = 1024 * 1024
/** A server that keeps to the window of the protocol never has more than 2 MiB under way. */
const HARD_LIMIT_BYTES = 8 * 1024 * 1024
const CHATTER_LIMIT_BYTES = 64 * 1024
/** How long the end of input, and then SIGTERM, may take to work. */
const GRACE_MS = 2_000
const KILL_MS = 3_000
const DURING = 'starting the prover'

export async function startProver(start: ProverStart, signal: AbortSignal): Promise<ProverProcess> {
  const { session, workspace } = start
  const marker = `touchstone-${randomBytes(16).toString('hex')}`
  const place = [workspace.folder, String(start.number), start.folder, start.keep ? 'keep' : 'remove']
  const channel = await session.exec(
    ['sh', '-c', START_PROVER, 'sh', marker, ...place, ...start.command],
    DURING,
    signal,
  )
  guardWindow(channel, session)
  const said = keepLastWords(channel.stderr)
  try {
    const read = readUntilMarker(channel, marker, CHATTER_LIMIT_BYTES)
    if ((await session.within(read, DURING, signal)) === null) throw commandFailed(session.address, DURING, said())
  } catch (error) {
    channel.close()
    throw error
  }
  return proverOf(channel, said, start, signal)
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

function proverOf(
  channel: ClientChannel,
  said: () => string,
  { session, workspace, graceMs = GRACE_MS }: ProverStart,
  signal: AbortSignal,
): ProverProcess {
  const held = channel.pipe(new PassThrough({ highWaterMark: HELD_BYTES }))
  let finished = false
  const ended = new Promise<ProverEnd>((resolve) => {
    const finish = (code?: number | null): void => {
      finished = true
      channel.unpipe(held)
      held.end()
      resolve({ code: code ?? null, lost: code === undefined && session.isLost(), said: said() })
    }
    // It repeats the exit code: a prover that dies at once may have told it before anybody listened.
    channel.once('close', finish)
    void session.gone.then(() => setImmediate(finish))
  })
  const gone = (): Error =>
    fault('BOX_CONNECTION_LOST', { address: session.address, during: 'talking to the prover, which has ended' })
  let stopping: Promise<void> | null = null
  const stop = (): Promise<void> => {
    stopping ??= stopProver(channel, workspace, ended, graceMs)
    return stopping
  }
  const onAbort = (): void => void stop()
  signal.addEventListener('abort', onAbort, { once: true })
  void ended.then(() => signal.removeEventListener('abort', onAbort))
  return {
    // Whoever stops reading leaves the rest to the next reader.
    output: { [Symbol.asyncIterator]: () => held.iterator({ destroyOnReturn: false }) },
    ended,
    stop,
    write: (bytes) =>
      new Promise((resolve, reject) => {
        if (finished || stopping !== null) return reject(gone())
        void ended.then(() => reject(gone()))
        channel.write(bytes, (error) => (error ? reject(gone()) : resolve()))
      }),
  }
}

/** End of input, then SIGTERM, then SIGKILL to its whole process group, and in the end the channel itself. */
async function stopProver(
  channel: ClientChannel,
  workspace: Workspace,
  ended: Promise<unknown>,
  graceMs: number,
): Promise<void> {
  const endsWithin = (ms: number) =>
    inTime(
      ended.then(() => true),
      ms,
      () => false,
    )
  channel.end()
  if (await endsWithin(graceMs)) return
  workspace.signalAll('term')
  if (await endsWithin(graceMs)) return
  workspace.signalAll('kill')
  // Whatever a flood had under way is dropped, so that the end of the channel can come through.
  channel.unpipe().resume()
  if (await endsWithin(KILL_MS)) return
  channel.close()
}
