import { randomBytes } from 'node:crypto'
import type { ClientChannel } from 'ssh2'
import { inTime } from '../../system/inTime.ts'
import { commandFailed, fault } from '../faults.ts'
import { keepLastWords } from '../keepLastWords.ts'
import { HOLD_WORKSPACE } from './boxScripts.ts'
import { readUntilMarker } from './readUntilMarker.ts'
import type { SshSession } from './sshSession.ts'

/** A folder of ours on the box, which disappears when we do. */
export interface Workspace {
  readonly folder: string
  /** Where releases are kept between runs; the folder's parent. */
  readonly base: string
  readonly machine: string
  /** What `node --version` says, or empty. */
  readonly nodeVersion: string
  readonly freeBytes: number | null
  /** Sends a signal to everything started in it. */
  signalAll(order: 'term' | 'kill'): void
  /** Ends what runs in it and removes it. */
  close(): Promise<void>
}

const LIMIT_BYTES = 64 * 1024
const CLOSE_LIMIT_MS = 10_000
const DURING = 'making a folder there'

export async function openWorkspace(session: SshSession, keep: boolean, signal: AbortSignal): Promise<Workspace> {
  const marker = `touchstone-${randomBytes(16).toString('hex')}`
  const name = `.touchstone-run-${randomBytes(8).toString('hex')}`
  const argv = ['sh', '-c', HOLD_WORKSPACE, 'sh', marker, name, keep ? 'keep' : 'remove']
  const channel = await session.exec(argv, DURING, signal)
  const said = keepLastWords(channel.stderr)
  try {
    const read = (async () => {
      if ((await readUntilMarker(channel, marker, LIMIT_BYTES)) === null) return null
      return readUntilMarker(channel, `${marker} end`, LIMIT_BYTES)
    })()
    const facts = await session.within(read, DURING, signal)
    if (facts === null) throw commandFailed(session.address, DURING, said())
    channel.resume()
    return workspaceOf(session, channel, parseFacts(facts.toString('utf8')))
  } catch (error) {
    channel.close()
    throw error
  }
}

function parseFacts(text: string): ReadonlyMap<string, string> {
  const lines = text.split('\n').filter((line) => line.includes(' '))
  return new Map(lines.map((line) => [line.slice(0, line.indexOf(' ')), line.slice(line.indexOf(' ') + 1)] as const))
}

function workspaceOf(session: SshSession, channel: ClientChannel, facts: ReadonlyMap<string, string>): Workspace {
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
    base,
    machine: (facts.get('machine') ?? '').slice(0, 40),
    nodeVersion: (facts.get('node') ?? '').slice(0, 40),
    freeBytes: Number.isSafeInteger(freeKiB) ? freeKiB * 1024 : null,
    signalAll: (order) => {
      if (channel.writable) channel.write(`${order}\n`)
    },
    close: async () => {
      channel.end()
      await inTime(Promise.race([closed, session.gone]), CLOSE_LIMIT_MS, () => channel.close())
    },
  }
}
