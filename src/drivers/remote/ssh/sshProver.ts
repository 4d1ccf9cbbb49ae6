import type { ClientChannel } from 'ssh2'
import type { ProverEnd, ProverProcess } from '../../../ports/remoteBox.ts'
import { inTime } from '../../system/inTime.ts'
import { fault } from '../faults.ts'
import { START_PROVER } from './boxScripts.ts'
import type { SshSession } from './sshSession.ts'
import { stampedOutput } from './stampedOutput.ts'
import { type StartedScript, startScript } from './startScript.ts'
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

/** How long the end of input, and then SIGTERM, may take to work. */
const GRACE_MS = 2_000
const KILL_MS = 3_000

export async function startProver(start: ProverStart, signal: AbortSignal): Promise<ProverProcess> {
  const { session, workspace, number, folder, keep, command } = start
  const args = [workspace.folder, String(number), folder, keep ? 'keep' : 'remove', ...command]
  const asked = { script: START_PROVER, args, during: 'starting the prover' }
  return proverOf(await startScript(session, asked, signal), start, signal)
}

function proverOf(
  { channel, said }: StartedScript,
  { session, workspace, graceMs = GRACE_MS }: ProverStart,
  signal: AbortSignal,
): ProverProcess {
  const { output, cameUs, end } = stampedOutput(channel, session.cameUs)
  let finished = false
  const ended = new Promise<ProverEnd>((resolve) => {
    const finish = (code?: number | null): void => {
      finished = true
      end()
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
    stopping ??= stopProver(channel, end, workspace, ended, graceMs)
    return stopping
  }
  const onAbort = (): void => void stop()
  signal.addEventListener('abort', onAbort, { once: true })
  void ended.then(() => signal.removeEventListener('abort', onAbort))
  return {
    output,
    cameUs,
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
  endOutput: () => void,
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
  endOutput()
  channel.resume()
  if (await endsWithin(KILL_MS)) return
  channel.close()
}
