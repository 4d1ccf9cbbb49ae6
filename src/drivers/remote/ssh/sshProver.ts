import { randomBytes } from 'node:crypto'
import type { ClientChannel } from 'ssh2'
import type { ProverEnd, ProverProcess } from '../../../ports/remoteBox.ts'
import { commandFailed, fault } from '../faults.ts'
import { keepLastWords } from '../keepLastWords.ts'
import { START_PROVER } from './boxScripts.ts'
import { ByteQueue } from './byteQueue.ts'
import { readUntilMarker } from './readUntilMarker.ts'
import { COMMAND_LIMIT_MS, within } from './runOnBox.ts'
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
  signal.throwIfAborted()
  const marker = `touchstone-${randomBytes(16).toString('hex')}`
  const place = [workspace.folder, String(start.number), start.folder, start.keep ? 'keep' : 'remove']
  const argv = ['sh', '-c', START_PROVER, 'sh', marker, ...place, ...start.command]
  const channel = await within(session, session.exec(argv, DURING), DURING, COMMAND_LIMIT_MS, signal)
  guardWindow(channel, session)
  const said = keepLastWords(channel.stderr)
  try {
    const read = readUntilMarker(channel, marker, CHATTER_LIMIT_BYTES)
    if ((await within(session, read, DURING, COMMAND_LIMIT_MS, signal)) === null)
      throw commandFailed(session.address, DURING, said())
  } catch (error) {
    channel.close()
    throw error
  }
  return proverOf({ channel, said }, start, signal)
}

interface Started {
  readonly channel: ClientChannel
  readonly said: () => string
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
  { channel, said }: Started,
  { session, workspace, graceMs = GRACE_MS }: ProverStart,
  signal: AbortSignal,
): ProverProcess {
  const queue = new ByteQueue(HELD_BYTES, { pause: () => channel.pause(), resume: () => channel.resume() })
  let finished = false
  const ended = new Promise<ProverEnd>((resolve) => {
    const finish = (code?: number | null): void => {
      finished = true
      queue.end()
      resolve({ code: code ?? null, lost: code === undefined && session.isLost(), said: said() })
    }
    channel.on('data', (chunk: Buffer) => queue.push(chunk))
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
    output: queue,
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
  channel.end()
  if (await settlesWithin(ended, graceMs)) return
  workspace.signalAll('term')
  if (await settlesWithin(ended, graceMs)) return
  workspace.signalAll('kill')
  // Whatever a flood had under way is dropped, so that the end of the channel can come through.
  channel.resume()
  if (await settlesWithin(ended, KILL_MS)) return
  channel.close()
}

function settlesWithin(promise: Promise<unknown>, ms: number): Promise<boolean> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => resolve(false), ms)
    void promise.then(() => {
      clearTimeout(timer)
      resolve(true)
    })
  })
}
