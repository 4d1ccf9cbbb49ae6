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

export async function openWorkspace(session: SshSession, keep: boolean, signal: AbortSignal): Promise<Workspace> {
  const args = [`.touchstone-run-${randomBytes(8).toString('hex')}`, keep ? 'keep' : 'remove']
  const asked = { script: HOLD_WORKSPACE, args, during: 'making a folder there', printsFacts: true }
  const { channel, facts } = await startScript(session, asked, signal)
  try {
    channel.resume()
    return workspaceOf(session, channel, parseFacts(facts))
  } catch (error) {
    channel.close()
    throw error
  }
}

const parseFacts = (text: string): ReadonlyMap<string, string> =>
  new Map([...text.matchAll(/^(\S+) (.*)$/gm)].map(([, name, value]) => [name!, value!]))

function workspaceOf(session: SshSession, channel: ClientChannel, facts: ReadonlyMap<string, string>) {
  const folder = facts.get('work') ?? 'none'
  const base = facts.get('base') ?? ''
  if (folder === 'none' || !folder.startsWith('/') || folder.length > 1024 || !folder.startsWith(base))
    throw fault('BOX_NOT_WRITABLE', {
      address: session.address,
      tried: 'the home directory and the folder for temporary files',
    })
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
