import { randomBytes } from 'node:crypto'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { connectSsh, type SshBoxOptions } from '../../src/drivers/remote/ssh/connectSsh.ts'
import { fingerprintOf } from '../../src/drivers/remote/ssh/knownHosts.ts'
import { TouchstoneError } from '../../src/ports/errors.ts'
import type { ProverProcess, RemoteBox } from '../../src/ports/remoteBox.ts'
import { eventually } from '../support/eventually.ts'
import { keyPair } from '../support/keyPair.ts'
import { makeRelease } from '../support/makeRelease.ts'
import { firstLine, isAlive } from '../support/processes.ts'
import type { TestSshServer } from '../support/sshServer.ts'

export type SshServerMaker = (wanted: {
  readonly folder: string
  readonly home: string
  readonly hostKey: string
  readonly authorizedKey: string
  readonly env?: Readonly<Record<string, string>>
}) => Promise<TestSshServer>

export const fingerprintOfPair = (pair: { public: string }): string =>
  fingerprintOf(Buffer.from(pair.public.split(' ')[1]!, 'base64'))

export const SCRIPTS = {
  echo: 'exec cat\n',
  /** Ends with the code it is told, after noise on standard error. */
  chatty:
    'i=0; while [ $i -lt 2000 ]; do echo "\\033]0;evil\\007 noise $i" >&2; i=$((i+1)); done; echo result; exit 7\n',
  dying: 'echo result; echo no such card >&2; exit 7\n',
  /** Ends when its input does, and leaves somebody behind who does not listen. */
  leaving: '(trap "" TERM HUP; while :; do sleep 1; done) & echo $!; cat >/dev/null; exit 7\n',
  /** Ignores the end of its input and polite signals, and has a child that does the same. */
  hang: 'trap "" TERM HUP; (trap "" TERM HUP; while :; do sleep 1; done) & echo "$$ $!"; while :; do sleep 1; done\n',
  flood: 'exec cat /dev/zero\n',
} as const

export async function readAll(output: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const chunks: Uint8Array[] = []
  for await (const chunk of output) chunks.push(chunk)
  return Buffer.concat(chunks)
}

/** Exactly so many bytes, while the prover goes on. */
export async function readBytes({ output }: ProverProcess, count: number): Promise<Buffer> {
  const chunks: Uint8Array[] = []
  let held = 0
  for await (const chunk of output) {
    chunks.push(chunk)
    held += chunk.length
    if (held >= count) break
  }
  return Buffer.concat(chunks)
}

export async function faultOf(promise: Promise<unknown>): Promise<TouchstoneError> {
  const error = await promise.then(
    () => new Error('expected a fault, got an answer'),
    (thrown: unknown) => thrown,
  )
  if (!(error instanceof TouchstoneError)) throw error
  expect(error.nextStep.length).toBeGreaterThan(10)
  return error
}

/** What every SSH server must let us do, and how every failure must look. Returns the folder that the tests use. */
export function sshBoxSuite(name: string, makeServer: SshServerMaker): void {
  const root = mkdtempSync(join(tmpdir(), 'touchstone-ssh-'))
  const servers: TestSshServer[] = []
  const boxes: RemoteBox[] = []
  const never = new AbortController().signal
  let count = 0

  async function setUp(script: keyof typeof SCRIPTS = 'echo', env: Record<string, string> = {}) {
    const folder = join(root, `box-${count++}`)
    const home = env.HOME ?? join(folder, "it's a home")
    if (env.HOME === undefined) mkdirSync(home, { recursive: true })
    mkdirSync(folder, { recursive: true })
    const [hostPair, userPair] = [keyPair(), keyPair()]
    const identity = join(folder, 'id')
    writeFileSync(identity, userPair.private, { mode: 0o600 })
    const wanted = {
      folder: join(folder, 'server'),
      home,
      hostKey: hostPair.private,
      authorizedKey: userPair.public,
      env,
    }
    const server = await makeServer(wanted)
    servers.push(server)
    const release = makeRelease(join(folder, 'release'), {
      files: { 'prover.sh': SCRIPTS[script], 'lib/data.txt': 'x'.repeat(100_000) },
      command: ['sh', 'prover.sh'],
    })
    const seen: string[] = []
    const options: SshBoxOptions = {
      auth: { keyFiles: [{ path: identity }] },
      knownHostsFiles: [],
      ownKnownHostsFile: join(folder, 'known_hosts'),
      onFirstUse: ({ fingerprint }) => {
        seen.push(fingerprint)
        return true
      },
      flavours: [{ directory: release, machine: 'any', carriesNode: false }],
      keep: false,
      graceMs: 150,
    }
    const address = `ssh://${server.user}@127.0.0.1:${server.port}`
    const connect = async (over: Partial<SshBoxOptions> = {}, signal: AbortSignal = never): Promise<RemoteBox> => {
      const box = await connectSsh(address, { ...options, ...over }, signal)
      boxes.push(box)
      return box
    }
    return { folder, home, server, hostPair, userPair, release, seen, address, options, connect, wanted }
  }

  afterAll(async () => {
    await Promise.all(boxes.map((box) => box.close()))
    await Promise.all(servers.map((server) => server.close()))
    rmSync(root, { recursive: true, force: true })
  })

  // Each test has a server of its own and mostly waits for it.
  describe.concurrent(`a box behind ${name}`, () => {
    test('carries bytes both ways unchanged and leaves nothing behind', async () => {
      const { home, connect, address } = await setUp()
      const box = await connect()
      const prover = await box.start(never)
      const sent = randomBytes(3_000_000)
      const got = readBytes(prover, sent.length)
      for (let at = 0; at < sent.length; at += 65_536) await prover.write(sent.subarray(at, at + 65_536))
      expect((await got).equals(sent)).toBe(true)
      await prover.stop()
      expect(await prover.ended).toMatchObject({ lost: false })
      await expect(prover.write(new Uint8Array(1))).rejects.toMatchObject({ detail: { code: 'BOX_CONNECTION_LOST' } })
      expect(box.address).toBe(address)
      await box.close()
      expect(readdirSync(home)).toEqual([])
    })

    test('a kept release is uploaded once, and again only when it was changed', async () => {
      const { home, connect } = await setUp()
      const uploaded: string[] = []
      for (const damage of [false, false, true]) {
        const box = await connect({ keep: true })
        await box.install(never)
        uploaded.push(box.access.uploadedBytes!)
        await box.close()
        const [id] = readdirSync(join(home, '.cache/touchstone'))
        expect(readdirSync(join(home, '.cache/touchstone'))).toEqual([id])
        if (!damage) continue
        writeFileSync(join(home, '.cache/touchstone', id!, 'lib/data.txt'), 'y')
        const again = await connect({ keep: true })
        const prover = await again.start(never)
        await prover.stop()
        uploaded.push(again.access.uploadedBytes!)
        await again.close()
        expect(readFileSync(join(home, '.cache/touchstone', id!, 'lib/data.txt'), 'utf8')).toHaveLength(100_000)
      }
      expect(uploaded).toEqual([uploaded[0], '0', '0', uploaded[0]])
      expect(Number(uploaded[0])).toBeGreaterThan(100_000)
    })

    test('attack 16: noise on standard error changes nothing', async () => {
      const { connect } = await setUp('chatty')
      const prover = await (await connect()).start(never)
      expect((await readAll(prover.output)).toString()).toBe('result\n')
      const { said, ...end } = await prover.ended
      expect(end).toEqual({ code: 7, lost: false })
      expect(said).toMatch(/^[\x20-\x7e]{100,300}$/)
    })

    test('a prover that dies at once leaves its output, its code and its last words', async () => {
      const { connect } = await setUp('dying')
      const prover = await (await connect()).start(never)
      expect((await readAll(prover.output)).toString()).toBe('result\n')
      expect(await prover.ended).toEqual({ code: 7, lost: false, said: 'no such card' })
    })

    test('what a prover left running is ended when it ends by itself, and its code is told all the same', async () => {
      const { connect } = await setUp('leaving')
      const prover = await (await connect({ graceMs: 5_000 })).start(never)
      const left = Number(await firstLine(prover))
      expect(isAlive(left)).toBe(true)
      await prover.stop()
      expect(await prover.ended).toMatchObject({ code: 7, lost: false })
      expect(isAlive(left)).toBe(false)
    })

    test('attack 14: the first key is shown and kept, another one afterwards is refused', async () => {
      const { seen, hostPair, connect, server, wanted, options } = await setUp()
      const first = await connect()
      expect(seen).toEqual([fingerprintOfPair(hostPair)])
      expect(first.access).toMatchObject({ hostKey: fingerprintOfPair(hostPair), hostKeyTrust: 'first use' })
      expect((await connect()).access).toMatchObject({ hostKeyTrust: 'known' })
      expect(seen).toHaveLength(1)
      const impostorPair = keyPair()
      const impostor = await makeServer({ ...wanted, folder: `${wanted.folder}-2`, hostKey: impostorPair.private })
      servers.push(impostor)
      const known = readFileSync(options.ownKnownHostsFile, 'utf8').replace(`:${server.port}`, `:${impostor.port}`)
      writeFileSync(options.ownKnownHostsFile, known)
      const there = `ssh://${server.user}@127.0.0.1:${impostor.port}`
      const fault = await faultOf(connectSsh(there, options, never))
      const [got, expected] = [fingerprintOfPair(impostorPair), fingerprintOfPair(hostPair)]
      expect(fault.detail).toMatchObject({ code: 'HOST_KEY_CHANGED', got, expected })
      expect(fault.retry).toBe(false)
      expect(seen).toHaveLength(1)
    })

    test('attack 14: with --host-key only that key will do, and a new key can be refused', async () => {
      const { hostPair, connect, options } = await setUp()
      const pinned = await connect({ hostKey: fingerprintOfPair(hostPair) })
      expect(pinned.access).toMatchObject({ hostKeyTrust: 'pinned' })
      const wrong = await faultOf(connect({ hostKey: fingerprintOfPair(keyPair()) }))
      expect(wrong.detail.code).toBe('HOST_KEY_CHANGED')
      const unknown = await faultOf(connect({ onFirstUse: () => false }))
      expect(unknown.detail.code).toBe('HOST_KEY_UNKNOWN')
      expect(existsSync(options.ownKnownHostsFile)).toBe(false)
    })

    test('a wrong key or none is a refusal that names what was tried', async () => {
      const { folder, connect, options } = await setUp()
      writeFileSync(join(folder, 'other'), keyPair().private)
      const fault = await faultOf(connect({ auth: { keyFiles: [{ path: join(folder, 'other') }] } }))
      expect(fault.detail).toMatchObject({ code: 'SSH_AUTH_FAILED', tried: join(folder, 'other') })
      expect(fault.blame).toBe('user')
      expect((await faultOf(connect({ auth: {} }))).detail).toMatchObject({ code: 'SSH_AUTH_FAILED', tried: '' })
      expect(existsSync(options.ownKnownHostsFile)).toBe(false)
    })

    test('a prover that hangs is ended by force, with everything it started', async () => {
      const { home, connect } = await setUp('hang')
      const box = await connect()
      const prover = await box.start(never)
      const pids = (await firstLine(prover)).split(' ').map(Number)
      expect(pids.map(isAlive)).toEqual([true, true])
      await prover.stop()
      expect(await prover.ended).toMatchObject({ lost: false })
      await eventually(() => !pids.some(isAlive))
      await box.close()
      expect(readdirSync(home)).toEqual([])
    })

    test('attack 34: a line cut in mid-run is seen as lost, and the box cleans up by itself', async () => {
      const { home, server, connect } = await setUp('hang')
      const box = await connect()
      const prover = await box.start(never)
      const pids = (await firstLine(prover)).split(' ').map(Number)
      server.cut()
      expect(await prover.ended).toMatchObject({ code: null, lost: true })
      expect(await readAll(prover.output)).toHaveLength(0)
      expect((await faultOf(box.start(never))).detail.code).toBe('BOX_CONNECTION_LOST')
      await eventually(() => !pids.some(isAlive))
      await eventually(() => readdirSync(home).length === 0)
    })

    test('Ctrl-C ends the prover on the box', async () => {
      const { connect } = await setUp('hang')
      const box = await connect()
      const interrupt = new AbortController()
      const prover = await box.start(interrupt.signal)
      const pids = (await firstLine(prover)).split(' ').map(Number)
      interrupt.abort(new Error('interrupted'))
      await prover.ended
      await eventually(() => !pids.some(isAlive))
      await expect(box.start(interrupt.signal)).rejects.toThrow('interrupted')
    })

    test('no write access anywhere is said so, and nothing is left', async () => {
      const { connect } = await setUp('echo', { HOME: '/proc/nowhere', TMPDIR: '/proc/nowhere' })
      const fault = await faultOf((await connect()).install(never))
      expect(fault.detail.code).toBe('BOX_NOT_WRITABLE')
    })

    test('a home without write access is replaced by the folder for temporary files', async () => {
      const other = join(root, `tmp-${count}`)
      mkdirSync(other)
      const { connect } = await setUp('echo', { HOME: '/proc/nowhere', TMPDIR: other })
      const box = await connect()
      const prover = await box.start(never)
      expect(readdirSync(other)).toHaveLength(1)
      await prover.stop()
      await box.close()
      expect(readdirSync(other)).toEqual([])
    })
  })
}
