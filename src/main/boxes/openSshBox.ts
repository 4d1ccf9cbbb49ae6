import { existsSync } from 'node:fs'
import { homedir, userInfo } from 'node:os'
import { join } from 'node:path'
import type { Command } from 'commander'
import { releaseFlavours } from '../../drivers/remote/readRelease.ts'
import type { SshAuth } from '../../drivers/remote/ssh/sshAuth.ts'
import { homeFolder } from '../../drivers/system/homeFolder.ts'
import type { RemoteBox } from '../../ports/remoteBox.ts'
import { reader } from '../parseOptions.ts'

export interface SshFlags {
  readonly identity?: string
  readonly hostKey?: string
  readonly keep: boolean
}

const readFingerprint = reader('Use what "ssh-keygen -lf" prints: SHA256: and 43 letters.', (text) =>
  /^SHA256:[A-Za-z0-9+/]{43}$/.test(text) ? text : null,
)

export const addSshOptions = (command: Command): Command =>
  command
    .option('--identity <file>', 'private key for ssh:// targets; else the agent and the keys in ~/.ssh')
    .option('--host-key <fingerprint>', 'the only host key to accept, as SHA256:…', readFingerprint)
    .option('--no-keep', 'leave no prover on the box for the next time')

/** Where a box is, and how the prover is started there. */
export interface BoxTarget {
  readonly address: string
  /** The numeric address of the box, where it was looked up and judged before. */
  readonly at?: string
  readonly proverArguments: readonly string[]
  readonly env: NodeJS.ProcessEnv
}

export interface SshTarget extends BoxTarget {
  readonly flags: SshFlags
  /** Shows a host key that was never seen before. */
  readonly say: (line: string) => void
}

/** A box over SSH with this clone's prover. The password, if one is needed, comes from TOUCHSTONE_SSH_PASSWORD. */
export async function openSshBox(target: SshTarget, signal: AbortSignal): Promise<RemoteBox> {
  const { address, flags, proverArguments, env, say } = target
  const options = {
    auth: authOf(flags, env),
    knownHostsFiles: [join(homedir(), '.ssh', 'known_hosts'), '/etc/ssh/ssh_known_hosts'],
    ownKnownHostsFile: join(homeFolder(env), 'known_hosts'),
    onFirstUse: (seen: { address: string; fingerprint: string }) => {
      say(`first time at ${seen.address}: its host key is ${seen.fingerprint}, remembered once the login succeeds`)
      return true
    },
    flavours: await releaseFlavours(),
    keep: flags.keep,
    defaultUser: userInfo().username,
    proverArguments,
    ...(flags.hostKey === undefined ? {} : { hostKey: flags.hostKey }),
    ...(target.at === undefined ? {} : { at: target.at }),
  }
  const { connectSsh } = await import('../../drivers/remote/ssh/connectSsh.ts')
  return connectSsh(address, options, signal)
}

const DEFAULT_KEYS = ['id_ed25519', 'id_ecdsa', 'id_rsa']

function authOf({ identity }: SshFlags, env: NodeJS.ProcessEnv): SshAuth {
  const password = env.TOUCHSTONE_SSH_PASSWORD === undefined ? {} : { password: env.TOUCHSTONE_SSH_PASSWORD }
  const passphrase = env.TOUCHSTONE_SSH_PASSPHRASE === undefined ? {} : { passphrase: env.TOUCHSTONE_SSH_PASSPHRASE }
  if (identity !== undefined) return { keyFiles: [{ path: identity, ...passphrase }], ...password }
  const agent = env.SSH_AUTH_SOCK && existsSync(env.SSH_AUTH_SOCK) ? { agent: env.SSH_AUTH_SOCK } : {}
  const keyFiles = DEFAULT_KEYS.map((name) => ({ path: join(homedir(), '.ssh', name), optional: true, ...passphrase }))
  return { ...agent, keyFiles, ...password }
}
