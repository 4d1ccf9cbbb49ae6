import { randomBytes } from 'node:crypto'
import type { ClientChannel } from 'ssh2'
import { inTime } from '../../system/inTime.ts'
import { fault } from '../faults.ts'
import { HOLD_WORKSPACE } from './boxScripts.ts'
import type { SshSession } from './sshSession.ts'
import { startScript } from './startScript.ts'

/** A folder of ours on the box, which disappears when we do. */
export type Workspace = ReturnType<typeof workspaceOf>

const CLOSE_LIMIT_MS = 10_000

/** After so long without a word of ours the box lets go of us: longer than a line lasts that is called lost here. */
const SILENCE_S = 180
/** Words of ours in that time, whatever else is done or waited for: one that is late is not yet a silence. */
const SIGNS_IN_SILENCE = 6

export interface WorkspaceRules {
  readonly keep: boolean
  /** For tests, where minutes are too long. */
  readonly silenceSeconds?: number | undefined
}

export async function openWorkspace(
  session: SshSession,
  { keep, silenceSeconds = SILENCE_S }: WorkspaceRules,
  signal: AbortSignal,
): Promise<Workspace> {
  const name = `.touchstone-run-${randomBytes(8).toString('hex')}`
  const args = [name, keep ? 'keep' : 'remove', String(silenceSeconds)]
  const asked = { script: HOLD_WORKSPACE, args, during: 'making a folder there', printsFacts: true }
  const { channel, facts } = await startScript(session, asked, signal)
  try {
    channel.resume()
    const place = placeOf(parseFacts(facts))
    if (place === null)
      throw fault('BOX_NOT_WRITABLE', {
        address: session.address,
        tried: 'the home directory and the folder for temporary files',
      })
    giveSigns(session, channel, (1000 * silenceSeconds) / SIGNS_IN_SILENCE)
    return workspaceOf(session, channel, place)
  } catch (error) {
    channel.close()
    throw error
  }
}

function giveSigns(session: SshSession, channel: ClientChannel, everyMs: number): void {
  const timer = setInterval(() => void (channel.writable && channel.write('here\n')), everyMs)
  const stop = () => clearInterval(timer)
  channel.once('close', stop)
  void session.gone.then(stop)
}

export const parseFacts = (text: string): ReadonlyMap<string, string> =>
  new Map([...text.matchAll(/^(\S+) (.*)$/gm)].map(([, name, value]) => [name!, value!]))

/** What no command could name would be our fault later, and cost the box nothing (attack 383). */
const PATH = /^\/[^\p{Cc}\p{Cs}]{0,1023}$/u

/** The folder that a box says it has made, and what else it says there; null if that is none. */
export function placeOf(facts: ReadonlyMap<string, string>) {
  const [folder, base] = [facts.get('work') ?? '', facts.get('base') ?? '']
  return PATH.test(folder) && folder.startsWith(base) ? { folder, base, facts } : null
}

function workspaceOf(
  session: SshSession,
  channel: ClientChannel,
  { folder, base, facts }: NonNullable<ReturnType<typeof placeOf>>,
) {
  const freeKiB = Number(facts.get('freeKiB') || Number.NaN)
  const closed = new Promise((resolve) => channel.once('close', resolve))
  return {
    folder,
    /** Where releases are kept between runs; the folder's parent. */
    base,
    machine: (facts.get('machine') ?? '').slice(0, 40),
    /** What `node --version` says, or empty. */
    nodeVersion: (facts.get('node') ?? '').slice(0, 40),
    freeBytes: Number.isSafeInteger(freeKiB) ? freeKiB * 1024 : null,
    /** Sends a signal to everything started in it. */
    signalAll: (order: 'term' | 'kill'): void => {
      if (channel.writable) channel.write(`${order}\n`)
    },
    /** Ends what runs in it and removes it. */
    close: async () => {
      channel.end()
      await inTime(Promise.race([closed, session.gone]), CLOSE_LIMIT_MS, () => channel.close())
    },
  }
}
