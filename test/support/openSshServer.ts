import { spawn, spawnSync } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync, writeFileSync } from 'node:fs'
import type { AddressInfo, Socket } from 'node:net'
import net from 'node:net'
import { userInfo } from 'node:os'
import { join } from 'node:path'
import { freePort } from './freePort.ts'
import type { TestSshServer } from './sshServer.ts'

/** Another one may be named, on a machine where it lies elsewhere. */
const SSHD = process.env.TOUCHSTONE_SSHD || '/usr/sbin/sshd'

/** Why the tests against a real OpenSSH cannot run here, or null. Where it was installed for them, a skip is a failure. */
export function whyNoOpenSsh(): string | null {
  if (existsSync(SSHD)) return null
  if (process.env.TOUCHSTONE_REQUIRE_OPENSSH === '1') throw new Error(`${SSHD} was to be installed and is not there`)
  return `${SSHD} is not installed`
}

export interface OpenSshOptions {
  readonly folder: string
  /** What HOME says to those who log in; null leaves it to the account. */
  readonly home: string | null
  readonly hostKey: string
  readonly authorizedKeys: string
  /** Where each account keeps its keys, instead of one file for all. */
  readonly keysPattern?: string
  readonly env?: Readonly<Record<string, string>>
  /** As the first process of its own machine, as in many containers. */
  readonly isFirst?: boolean
}

/** A real sshd on loopback, as the current user, with a configuration of its own; its direct port cannot be cut. */
export async function startOpenSsh(options: OpenSshOptions): Promise<TestSshServer & { readonly directPort: number }> {
  const { folder } = options
  if (process.getuid?.() === 0) mkdirSync('/run/sshd', { recursive: true })
  mkdirSync(folder, { recursive: true })
  const file = (name: string, text: string): string => {
    writeFileSync(join(folder, name), text)
    chmodSync(join(folder, name), 0o600)
    return join(folder, name)
  }
  const env = Object.entries({ ...(options.home === null ? {} : { HOME: options.home }), ...options.env }).map(
    ([name, value]) => `"${name}=${value}"`,
  )
  const settings = (port: number): string =>
    file(
      'sshd_config',
      [
        `ListenAddress 127.0.0.1:${port}`,
        `HostKey ${file('host_key', options.hostKey)}`,
        `AuthorizedKeysFile ${options.keysPattern ?? file('authorized_keys', options.authorizedKeys)}`,
        `PidFile none`,
        'UsePAM no',
        'StrictModes no',
        'PasswordAuthentication no',
        'KbdInteractiveAuthentication no',
        'PermitRootLogin prohibit-password',
        'Subsystem sftp internal-sftp',
        env.length === 0 ? '' : `SetEnv ${env.join(' ')}`,
        '',
      ].join('\n'),
    )
  const { port, daemon } = await startDaemon(settings, options.isFirst ?? false)
  const relay = await startRelay(port)
  return {
    user: userInfo().username,
    port: relay.port,
    directPort: port,
    cut: relay.cut,
    close: async () => {
      relay.cut()
      await relay.close()
      const ended = new Promise((resolve) => daemon.once('exit', resolve))
      // unshare waits for its child whatever it is told, and takes it along when it is killed.
      daemon.kill(options.isFirst ? 'SIGKILL' : 'SIGTERM')
      await ended
    },
  }
}

/** In a process namespace of its own. */
const FIRST = ['unshare', '--pid', '--fork', '--mount-proc', '--kill-child']
export const canBeFirst = (): boolean => spawnSync(FIRST[0]!, [...FIRST.slice(1), 'true']).status === 0

/** A port that was free a moment ago may be somebody else's by now: then another one. */
async function startDaemon(settings: (port: number) => string, isFirst: boolean) {
  for (let left = 3; ; left--) {
    const port = await freePort()
    const command = [...(isFirst ? FIRST : []), SSHD, '-D', '-e', '-f', settings(port)]
    const daemon = spawn(command[0]!, command.slice(1), { stdio: ['ignore', 'ignore', 'pipe'] })
    let said = ''
    const isListening = await new Promise<boolean>((resolve) => {
      daemon.once('close', () => resolve(false))
      daemon.stderr.on('data', (chunk: Buffer) => {
        said += said.length < 1000 ? chunk : ''
        if (chunk.includes('Server listening')) resolve(true)
      })
    })
    if (isListening) return { port, daemon }
    if (left === 0) throw new Error(`sshd does not listen: ${said}`)
  }
}

/** Stands in the middle so that a test can cut the line without telling either side. */
async function startRelay(target: number): Promise<{ port: number; cut(): void; close(): Promise<void> }> {
  const sockets = new Set<Socket>()
  const listener = net.createServer({ noDelay: true }, (near) => {
    const far = net.connect({ port: target, host: '127.0.0.1', noDelay: true })
    for (const socket of [near, far]) {
      sockets.add(socket)
      socket.on('error', () => {})
      socket.once('close', () => {
        sockets.delete(socket)
        near.destroy()
        far.destroy()
      })
    }
    near.pipe(far)
    far.pipe(near)
  })
  await new Promise<void>((resolve) => listener.listen(0, '127.0.0.1', resolve))
  return {
    port: (listener.address() as AddressInfo).port,
    cut: () => {
      for (const socket of sockets) socket.destroy()
    },
    close: () => new Promise((resolve) => listener.close(() => resolve())),
  }
}
