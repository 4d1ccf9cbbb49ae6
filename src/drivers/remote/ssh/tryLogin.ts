import { commandFailed } from '../faults.ts'
import { keyTypeOf, knownHostsLine } from './knownHosts.ts'
import type { SshAddress } from './sshAddress.ts'
import { openSession } from './sshSession.ts'
import { runOnBox } from './startScript.ts'

const COMMAND_MS = 15_000

interface Login {
  readonly privateKey: string
  /** `SHA256:…`: nobody else is talked to. */
  readonly hostKey: string
  /** The numeric address to dial; else the name is looked up. */
  readonly at?: string
  readonly connectLimitMs?: number
}

/** Logs in once and runs a command that does nothing; answers the line for known_hosts. */
export async function tryLogin(to: SshAddress, { privateKey, ...login }: Login, signal: AbortSignal): Promise<string> {
  const files = { knownHostsFiles: [], ownKnownHostsFile: '/dev/null', onFirstUse: () => false }
  const session = await openSession(to, { auth: { privateKey }, ...files, ...login }, signal)
  try {
    const during = 'trying a command'
    const { code, said } = await runOnBox(session, { argv: ['true'], during, limitMs: COMMAND_MS }, signal)
    if (code !== 0) throw commandFailed(session.address, during, said)
    const { blob } = session.hostKey
    return knownHostsLine(to.host, to.port, keyTypeOf(blob) ?? '', blob)
  } finally {
    session.close()
  }
}
