import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { embeddedFolder } from '../support/embeddedFolder.ts'
import { freePort } from '../support/freePort.ts'
import { keyPair } from '../support/keyPair.ts'
import { OPEN_PROVIDER } from '../support/openProvider.ts'
import { pathWithoutNode } from '../support/pathWithoutNode.ts'
import { startSshServer } from '../support/sshServer.ts'

/** A program as somebody has it who has no clone. */
export interface Installed {
  /** What starts it, before the words of a command. */
  readonly command: readonly string[]
  /** What its surroundings set for it. */
  readonly env?: Readonly<Record<string, string>>
}

/** The least that is a verification: one precision of the CPU. */
const TINY = ['--preset', 'tiny', '--devices', 'cpu', '--precisions', 'int8', '--no-memory', '--no-bind']

/** One folder, empty but for what `install` puts there, and no Node in PATH. */
class Place {
  readonly folder = mkdtempSync(join(tmpdir(), 'touchstone-installed-'))
  readonly path = pathWithoutNode(join(this.folder, 'bin'))
  readonly #running: ChildProcess[] = []
  #command: readonly string[] = []
  #env: Readonly<Record<string, string>> = {}

  async install(install: Install): Promise<void> {
    const { command, env = {} } = await install(this.folder)
    this.#command = command
    this.#env = env
  }

  get #options() {
    const home = join(this.folder, 'home')
    return { cwd: this.folder, env: { PATH: this.path, HOME: home, NO_COLOR: '1', ...this.#env } }
  }

  /** Runs one command to its end. */
  run(...args: string[]) {
    const [program = '', ...first] = this.#command
    const { status, stdout, stderr } = spawnSync(program, [...first, ...args], { ...this.#options, encoding: 'utf8' })
    return { status, stdout, stderr }
  }

  start(...args: string[]) {
    const [program = '', ...first] = this.#command
    const child = spawn(program, [...first, ...args], { ...this.#options, stdio: ['ignore', 'pipe', 'inherit'] })
    this.#running.push(child)
    return child
  }

  end(): void {
    for (const child of this.#running) child.kill('SIGKILL')
    rmSync(this.folder, { recursive: true, force: true })
  }
}

/** The first line that says this; what comes before it is read and dropped. */
async function lineWith(child: ReturnType<Place['start']>, word: string): Promise<Record<string, unknown>> {
  for await (const line of createInterface({ input: child.stdout })) if (line.includes(word)) return JSON.parse(line)
  throw new Error(`it ended before it said ${word}`)
}

type Install = (folder: string) => Installed | Promise<Installed>

/** What every way to have Touchstone promises: a person needs nothing else for any of the four jobs. */
export function installedSuite(what: string, install: Install, more?: (folder: () => string) => void): void {
  describe(`${what}, in an empty folder`, () => {
    let place: Place
    beforeAll(async () => {
      place = new Place()
      await place.install(install)
    })
    afterAll(() => place.end())

    test('verifies this machine, checks what it wrote, and writes a report', () => {
      expect(place.run('verify', ...TINY, '--out', 'c.json', '--json')).toMatchObject({ status: 0 })
      expect(JSON.parse(place.run('check', 'c.json', '--json').stdout)).toMatchObject({ verdict: 'genuine' })
      expect(place.run('report', 'c.json', '--html')).toMatchObject({ status: 0 })
      expect(existsSync(join(place.folder, 'c.html'))).toBe(true)
    })

    test('offers this machine as a provider, until it is told to stop', async () => {
      const host = join(place.folder, 'host.pub')
      writeFileSync(host, keyPair().public)
      const files = ['--host-key-file', host, '--authorized-keys', join(place.folder, 'authorized_keys')]
      const child = place.start('provider', ...OPEN_PROVIDER, ...files)
      expect(await lineWith(child, 'listening')).toMatchObject({ event: 'listening' })
      child.kill('SIGTERM')
      expect(await once(child, 'exit')).toEqual([0, null])
    })

    test('runs a validator that answers, until it is told to stop', async () => {
      const store = await embeddedFolder()
      const config = join(place.folder, 'validator.yaml')
      writeFileSync(config, `store: embedded:${store.folder}\napi: { port: ${await freePort()} }\n`)
      try {
        const child = place.start('validator', '--config', config)
        const { key } = await lineWith(child, 'validator started')
        const { status, stdout } = place.run('validator', 'status', '--config', config, '--json')
        expect({ status, key: typeof key, boxes: JSON.parse(stdout).boxes }).toMatchObject({ status: 0, key: 'string' })
        child.kill('SIGTERM')
        expect(await once(child, 'exit')).toEqual([0, null])
      } finally {
        store.end()
      }
    })

    more?.(() => place.folder)
  })
}

/** The same over SSH, where the box has no Node either: half a minute, most of it packing the Node that goes there. */
export function installedOverSshSuite(what: string, install: Install): void {
  test(`${what} verifies a box over SSH that has no Node, and finds its prover there the next time`, async () => {
    const place = new Place()
    const box = join(place.folder, 'box')
    mkdirSync(box)
    const [host, user] = [keyPair(), keyPair()]
    writeFileSync(join(place.folder, 'id'), user.private, { mode: 0o600 })
    const login = { home: box, user: 'renter', hostKey: host.private, authorizedKey: user.public }
    const server = await startSshServer({ ...login, env: { PATH: place.path } })
    const verify = async () => {
      const to = [`renter@127.0.0.1:${server.port}`, '--identity', 'id', '--out', 'ssh.json', '--json']
      const child = place.start('verify', ...to, ...TINY)
      const chunks: Buffer[] = []
      child.stdout.on('data', (chunk: Buffer) => chunks.push(chunk))
      const [code] = await once(child, 'close')
      return { code, report: JSON.parse(Buffer.concat(chunks).toString()) }
    }
    try {
      await place.install(install)
      const first = await verify()
      expect(first).toMatchObject({
        code: 0,
        report: { verdict: 'genuine', access: { node: 'carried by the release' } },
      })
      const uploaded = Number(first.report.access.uploadedBytes)
      console.info(`a prover with its Node: ${(uploaded / 1e6).toFixed(1)} MB on the way`)
      expect(uploaded).toBeLessThan(60_000_000)
      expect(await verify()).toMatchObject({ code: 0, report: { access: { uploadedBytes: '0' } } })
    } finally {
      await server.close()
      place.end()
    }
  })
}
