import type { Command } from 'commander'
import { reader } from '../parseOptions.ts'

export interface SshFlags {
  readonly identity?: string
  readonly hostKey?: string
  readonly keep: boolean
  readonly node?: string
}

const readFingerprint = reader('Use what "ssh-keygen -lf" prints: SHA256: and 43 letters.', (text) =>
  /^SHA256:[A-Za-z0-9+/]{43}$/.test(text) ? text : null,
)

export const addSshOptions = (command: Command): Command =>
  command
    .option('--identity <file>', 'private key for ssh:// targets; else the agent and the keys in ~/.ssh')
    .option('--host-key <fingerprint>', 'the only host key to accept, as SHA256:…', readFingerprint)
    .option('--node <file>', 'a Node for Linux on x86-64 to carry to a box that has none (default: this one)')
    .option('--no-keep', 'leave no prover on the box for the next time')

/** What they add, by the names of flags. */
export const SSH_OPTIONS: readonly (keyof SshFlags)[] = ['identity', 'hostKey', 'node', 'keep']

/** Why none of them is taken there: who pins a host key must not be verified another one (attack 246). */
export const OF_A_LEASE = 'for a lease: its provider names account and host key, and nothing is kept'
