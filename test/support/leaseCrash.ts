import { type ChildProcess, spawn } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { eventually } from './eventually.ts'
import { keyPair } from './keyPair.ts'
import { makeRelease } from './makeRelease.ts'
import { OPEN_PROVIDER, TRUSTING_PROVIDER } from './openProvider.ts'
import { startOpenSsh } from './openSshServer.ts'
import type { TestSshServer } from './sshServer.ts'
import { withOther } from './withOther.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))
const HANG =
  'trap "" TERM HUP; (trap "" TERM HUP; while :; do sleep 1; done) & echo "$$ $!"; while :; do sleep 1; done\n'

export interface ChildEvents {
  readonly child: ChildProcess
  /** Everything it has said. */
  readonly events: Record<string, unknown>[]
  find(event: string): Record<string, unknown> | undefined
  readonly ended: Promise<void>
}

function startNode(args: readonly string[], env: NodeJS.ProcessEnv): ChildEvents {
  const child = spawn(process.execPath, args, { env, stdio: ['ignore', 'pipe', 'pipe'], cwd: root })
  const events: Record<string, unknown>[] = []
  createInterface({ input: child.stdout }).on('line', (line) => events.push(JSON.parse(line)))
  let errors = ''
  child.stderr.on('data', (chunk: Buffer) => {
    errors += chunk.toString()
  })
  const ended = new Promise<void>((resolve) =>
    child.once('close', () => {
      events.push({ event: 'gone', errors })
      resolve()
    }),
  )
  return { child, events, find: (name) => events.find(({ event }) => event === name), ended }
}

/** A box with a real SSH server, a provider process on it, and validators that come and go. */
export class LeasedBox {
  readonly folder = mkdtempSync(join(tmpdir(), 'touchstone-lease-'))
  readonly home = join(this.folder, 'home')
  readonly keysFile = join(this.folder, 'server', 'authorized_keys')
  readonly stateFolder = join(this.folder, 'state', 'leases')
  readonly #release: string
  #server: TestSshServer | null = null
  #more: readonly string[] = []
  provider: ChildEvents | null = null

  constructor(release: string = HANG) {
    mkdirSync(this.home)
    this.#release = makeRelease(join(this.folder, 'release'), { files: { 'p.sh': release }, command: ['sh', 'p.sh'] })
  }

  /** Whatever is added to the provider's flags holds for every start of it. */
  async open(more: readonly string[] = []): Promise<void> {
    this.#more = more
    const host = keyPair()
    writeFileSync(join(this.folder, 'host.pub'), host.public)
    const wanted = { folder: join(this.folder, 'server'), home: this.home, hostKey: host.private, authorizedKeys: '' }
    this.#server = await startOpenSsh(wanted)
    await this.startProvider()
  }

  async startProvider(): Promise<void> {
    const ssh = ['--ssh-port', String(this.#server!.port), '--authorized-keys', this.keysFile]
    const key = ['--host-key-file', join(this.folder, 'host.pub')]
    const env = { ...process.env, TOUCHSTONE_HOME: join(this.folder, 'state') }
    const open = this.#more.includes('--dial-out') ? TRUSTING_PROVIDER : OPEN_PROVIDER
    const words = withOther([...open, ...ssh, ...key], this.#more)
    const provider = startNode(['dist/main/touchstone.js', 'provider', ...words], env)
    this.provider = provider
    await eventually(
      () => provider.find('listening') !== undefined || provider.find('dialled') !== undefined || gone(provider),
    )
    if (gone(provider)) throw new Error(`the provider did not start: ${JSON.stringify(provider.events)}`)
  }

  startHolder(seconds: number, mode = 'hold'): ChildEvents {
    const { port, key } = this.provider!.find('listening') as { port: number; key: string }
    const script = join(root, 'test/support/leaseHolder.mjs')
    const known = join(this.folder, 'known_hosts')
    const args = [script, `ws://127.0.0.1:${port}`, key, String(seconds), this.#release, known, mode]
    return startNode(args, process.env)
  }

  /** Keys of leases that would still let somebody in. */
  leasedKeys(): string[] {
    return readFileSync(this.keysFile, 'utf8')
      .split('\n')
      .filter((line) => line.includes('touchstone-lease-'))
  }

  /** End of the newest lease that was asked for after this, as the provider has it on disk. */
  lastExpiryMs(sinceMs: number): number | null {
    try {
      const { leases } = JSON.parse(readFileSync(join(this.stateFolder, 'journal.json'), 'utf8'))
      const recent = leases.filter((lease: { askedAtMs: number }) => lease.askedAtMs >= sinceMs)
      return recent.at(-1)?.expiresAtMs ?? null
    } catch {
      return null
    }
  }

  openFolders(): string[] {
    try {
      return readdirSync(join(this.stateFolder, 'open'))
    } catch {
      return []
    }
  }

  async close(): Promise<void> {
    if (this.provider !== null && !gone(this.provider)) {
      this.provider.child.kill('SIGTERM')
      await this.provider.ended
    }
    await this.#server?.close()
    rmSync(this.folder, { recursive: true, force: true })
  }
}

export const gone = (process: ChildEvents): boolean => process.find('gone') !== undefined

export async function killHard(process: ChildEvents): Promise<void> {
  process.child.kill('SIGKILL')
  await process.ended
}
