import { mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import type { AddressInfo } from 'node:net'
import net from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import ssh2 from 'ssh2'
import { afterAll, describe, expect, test } from 'vitest'
import {
  faultOf,
  fingerprintOfPair,
  readAll,
  readBytes,
  SCRIPTS,
  sshBoxSuite,
} from '../../../../test/suites/sshBoxSuite.ts'
import { eventually } from '../../../../test/support/eventually.ts'
import { keyPair } from '../../../../test/support/keyPair.ts'
import { makeRelease } from '../../../../test/support/makeRelease.ts'
import { startSshOffer } from '../../../../test/support/sshOffer.ts'
import { type SshServerOptions, startSshServer } from '../../../../test/support/sshServer.ts'
import { connectSsh, isNodeRecent, type SshBoxOptions } from './connectSsh.ts'
import { openSession } from './sshSession.ts'

sshBoxSuite('the SSH server of npm install', ({ home, hostKey, authorizedKey, env }) =>
  startSshServer({ home, user: 'renter', hostKey, authorizedKey, ...(env ? { env } : {}) }),
)

const root = mkdtempSync(join(tmpdir(), 'touchstone-ssh-odd-'))
afterAll(() => rmSync(root, { recursive: true, force: true }))
const never = new AbortController().signal
const hostKey = keyPair().private
let count = 0

/** A folder of programs to stand in for PATH, without those named. */
function programsWithout(missing: readonly string[], extra: Record<string, string> = {}): string {
  const folder = join(root, `bin-${count++}`)
  mkdirSync(folder)
  const needed = ['sh', 'mkdir', 'rm', 'cat', 'id', 'uname', 'head', 'df', 'find', 'sleep', 'sha256sum', 'node']
  const places = ['/usr/bin', '/bin', '/usr/local/bin', ...process.env.PATH!.split(':')]
  for (const name of needed.filter((program) => !missing.includes(program) && !(program in extra))) {
    const place = places.find((candidate) => readdirSync(candidate).includes(name))
    if (place !== undefined) symlinkSync(join(place, name), join(folder, name))
  }
  for (const [name, text] of Object.entries(extra)) writeFileSync(join(folder, name), text, { mode: 0o755 })
  return folder
}

async function withBox(
  server: Partial<SshServerOptions>,
  box: Partial<SshBoxOptions>,
  use: (connect: () => ReturnType<typeof connectSsh>, home: string) => Promise<void>,
  script: keyof typeof SCRIPTS = 'echo',
): Promise<void> {
  const folder = join(root, `box-${count++}`)
  const home = join(folder, 'home')
  mkdirSync(home, { recursive: true })
  const running = await startSshServer({ home, user: 'renter', password: 'secret', hostKey, ...server })
  const release = makeRelease(join(folder, 'release'), { files: { 'p.sh': SCRIPTS[script] }, command: ['sh', 'p.sh'] })
  const options: SshBoxOptions = {
    auth: { password: 'secret' },
    knownHostsFiles: [],
    ownKnownHostsFile: join(folder, 'known_hosts'),
    onFirstUse: () => true,
    flavours: [{ directory: release, machine: 'any', carriesNode: false }],
    keep: false,
    graceMs: 150,
    ...box,
  }
  const opened: Awaited<ReturnType<typeof connectSsh>>[] = []
  try {
    await use(async () => {
      const connected = await connectSsh(`ssh://renter@127.0.0.1:${running.port}`, options, never)
      opened.push(connected)
      return connected
    }, home)
  } finally {
    await Promise.all(opened.map((connected) => connected.close()))
    await running.close()
  }
}

describe.concurrent('connectSsh', () => {
  test('attack 95: a server that hangs up right after the login is a fault, and leaving it takes no time', async () => {
    await withBox({ dropAfterLogin: true }, {}, async (connect) => {
      const box = await connect()
      expect((await faultOf(box.install(never))).detail.code).toBe('BOX_CONNECTION_LOST')
      await box.close()
    })
  })

  test('a password is enough, and a wrong one is a refusal that does not repeat it', async () => {
    await withBox({}, {}, async (connect) => {
      const box = await connect()
      expect(box.access.account).toBe('renter')
    })
    await withBox({}, { auth: { password: 'hunter2' } }, async (connect) => {
      const fault = await faultOf(connect())
      expect(fault.detail).toMatchObject({ code: 'SSH_AUTH_FAILED', tried: 'the password' })
      expect(JSON.stringify([fault.detail, fault.message, fault.nextStep])).not.toContain('hunter2')
    })
  })

  test('attack 14: a pin may be of any key of the server, and of no other', async () => {
    const rsa = ssh2.utils.generateKeyPairSync('rsa', { bits: 2048 })
    const ecdsa = ssh2.utils.generateKeyPairSync('ecdsa', { bits: 256 })
    const keys = [rsa, ecdsa, keyPair()]
    for (const pair of keys)
      await withBox(
        { hostKey: keys.map((key) => key.private) },
        { hostKey: fingerprintOfPair(pair) },
        async (connect) => {
          expect((await connect()).access).toMatchObject({ hostKey: fingerprintOfPair(pair), hostKeyTrust: 'pinned' })
        },
      )
    const other = { hostKey: fingerprintOfPair(keyPair()) }
    for (const served of [[rsa.private], keys.map((key) => key.private)])
      await withBox({ hostKey: served }, other, async (connect) => {
        expect((await faultOf(connect())).detail).toMatchObject({ code: 'HOST_KEY_CHANGED', expected: other.hostKey })
      })
  })

  test('a talkative login shell does not reach the prover stream', async () => {
    await withBox({ chatter: 'Welcome!\x1b[2J\n'.repeat(100) }, {}, async (connect) => {
      const prover = await (await connect()).start(never)
      await prover.write(Buffer.from('hello'))
      expect((await readBytes(prover, 5)).toString()).toBe('hello')
      await prover.stop()
    })
  })

  test('attacks 12 and 53: endless chatter before the prover is a fault inside fixed limits', async () => {
    await withBox({ chatter: 'x'.repeat(200_000) }, {}, async (connect) => {
      expect((await faultOf((await connect()).install(never))).detail.code).toBe('BOX_COMMAND_FAILED')
    })
  })

  test('attack 12: a flooding prover waits until somebody reads', async () => {
    let sent = 0
    const onOutput = (total: number): void => {
      sent = total
    }
    await withBox(
      { onOutput },
      {},
      async (connect) => {
        const prover = await (await connect()).start(never)
        let before = -1
        await eventually(async () => {
          await new Promise((resolve) => setTimeout(resolve, 100))
          const still = sent === before && sent > 0
          before = sent
          return still
        })
        expect(sent).toBeLessThan(16 * 1024 * 1024)
        let read = 0
        for await (const chunk of prover.output) {
          read += chunk.length
          if (read > 8 * 1024 * 1024) break
        }
        await prover.stop()
      },
      'flood',
    )
  })

  test('attacks 12 and 53: a server that ignores flow control is dropped before it fills our memory', async () => {
    await withBox(
      // Three bytes first: the library's own check only sees a window of exactly zero.
      { ignoreWindow: true, chatter: 'odd' },
      {},
      async (connect) => {
        const prover = await (await connect()).start(never)
        expect(await prover.ended).toMatchObject({ code: null, lost: true })
        expect((await readAll(prover.output)).length).toBeLessThan(16 * 1024 * 1024)
      },
      'flood',
    )
  })

  test('a full disk is said so before anything is written', async () => {
    const df = '#!/bin/sh\necho Filesystem\necho "/dev/x 1000 996 4 99% /"\n'
    await withBox({ env: { PATH: programsWithout([], { df }) } }, {}, async (connect, home) => {
      const box = await connect()
      const { detail } = await faultOf(box.install(never))
      expect(detail).toMatchObject({ code: 'BOX_DISK_FULL', freeBytes: 4096 })
      expect(detail.folder).toMatch(/^"\/.*"$/)
      await box.close()
      expect(readdirSync(home)).toEqual([])
    })
  })

  test('a write that fails on the box is said so, and nothing is left', async () => {
    await withBox({ failWrites: true }, {}, async (connect, home) => {
      const box = await connect()
      expect((await faultOf(box.install(never))).detail).toMatchObject({ code: 'BOX_UPLOAD_FAILED', path: 'p.sh' })
      await box.close()
      expect(readdirSync(home)).toEqual([])
    })
  })

  test('a file of ours that is gone in mid-way is no fault of the box', async () => {
    const files = Object.fromEntries(Array.from({ length: 30 }, (_, i) => [`${i}.txt`, `part ${i}`]))
    const directory = makeRelease(join(root, 'gone'), { files, command: ['sh', '0.txt'] })
    const flavours = [{ directory, machine: 'any', carriesNode: false }]
    const onUpload = () => rmSync(directory, { recursive: true, force: true })
    await withBox({}, { flavours, onUpload }, async (connect) => {
      const { detail } = await faultOf((await connect()).install(never))
      expect(detail).toMatchObject({ code: 'BAD_RELEASE', directory })
    })
  })

  test('a release of many files goes there several at a time, and one that fails ends them all', async () => {
    const files = Object.fromEntries(Array.from({ length: 30 }, (_, i) => [`part/${i}.txt`, `part ${i}`]))
    const directory = makeRelease(join(root, 'many'), {
      files: { ...files, 'p.sh': SCRIPTS.echo },
      command: ['sh', 'p.sh'],
    })
    const flavours = [{ directory, machine: 'any', carriesNode: false }]
    const opened: number[] = []
    await withBox({ onOpenFiles: (count) => opened.push(count) }, { flavours }, async (connect) => {
      await (await connect()).install(never)
      expect(Math.max(...opened)).toBeGreaterThan(1)
      expect(Math.max(...opened)).toBeLessThanOrEqual(8)
    })
    await withBox(
      { failWrites: true, onOpenFiles: (count) => opened.push(count) },
      { flavours },
      async (connect, home) => {
        opened.length = 0
        const box = await connect()
        expect((await faultOf(box.install(never))).detail).toMatchObject({ code: 'BOX_UPLOAD_FAILED' })
        expect(opened.length).toBeLessThanOrEqual(2 * 8)
        expect(opened.at(-1)).toBe(0)
        await box.close()
        expect(readdirSync(home)).toEqual([])
      },
    )
  })

  test('attack 440: a server that does not close SFTP after the installation is dropped, and is to blame', async () => {
    await withBox({ keepsSftp: true }, {}, async (connect) => {
      const fault = await faultOf((await connect()).install(never))
      expect([fault.detail.code, fault.blame]).toEqual(['SFTP_NOT_CLOSED', 'prover'])
    })
  })

  test('a server without SFTP gets the release through commands', async () => {
    await withBox({ noSftp: true }, { keep: true }, async (connect, home) => {
      const box = await connect()
      const prover = await box.start(never)
      await prover.write(Buffer.from('hello'))
      expect((await readBytes(prover, 5)).toString()).toBe('hello')
      await prover.stop()
      expect(box.access.uploadedBytes).not.toBe('0')
      await box.close()
      expect(readdirSync(join(home, '.cache/touchstone'))).toEqual([])
    })
  })

  test('without sha256sum the files are read back, and a difference is found either way', async () => {
    const directory = join(root, 'lying')
    makeRelease(directory, { files: { 'p.sh': SCRIPTS.echo }, command: ['sh', 'p.sh'] })
    const PATH = programsWithout(['sha256sum'])
    await withBox({ env: { PATH } }, {}, async (connect) => (await connect()).install(never))
    writeFileSync(join(directory, 'p.sh'), SCRIPTS.flood)
    const flavours = [{ directory, machine: 'any', carriesNode: false }]
    for (const env of [{ PATH }, {}])
      await withBox({ env }, { flavours }, async (connect) => {
        expect((await faultOf((await connect()).install(never))).detail.code).toBe('PROVER_HASH_MISMATCH')
      })
  })

  test('a box without Node gets the release that carries one, or a fault that says what is missing', async () => {
    const own = makeRelease(join(root, 'own'), {
      files: { 'bin/node': '#!/bin/sh\necho carried "$@"\n', 'p.js': '' },
      command: ['bin/node', 'p.js'],
    })
    const plain = makeRelease(join(root, 'plain'), { files: { 'p.sh': 'echo plain\n' }, command: ['sh', 'p.sh'] })
    const flavours = [
      { directory: plain, machine: 'any', carriesNode: false },
      { directory: own, machine: 'any', carriesNode: true },
    ]
    const said = async (env: Record<string, string>): Promise<string> => {
      let text = ''
      await withBox({ env }, { flavours }, async (connect) => {
        const box = await connect()
        text = (await readAll((await box.start(never)).output)).toString()
      })
      return text
    }
    expect(await said({})).toBe('plain\n')
    expect(await said({ PATH: programsWithout(['node']) })).toBe('carried p.js\n')
    expect(await said({ PATH: programsWithout([], { node: '#!/bin/sh\necho v18.20.1\n' }) })).toBe('carried p.js\n')
    // Attack 367.
    const uname = '#!/bin/sh\necho "x86: AS CLAIMED   8 x H100"\n'
    const PATH = programsWithout(['node'], { uname })
    await withBox({ env: { PATH } }, { flavours: [flavours[0]!] }, async (connect) => {
      const { detail } = await faultOf((await connect()).install(never))
      expect(detail).toMatchObject({ code: 'NO_PROVER_FOR_BOX', machine: '"x86: AS CLAIMED 8 x H100"' })
    })
  })

  // Its limit is short: nothing else may hold the thread meanwhile.
  test.sequential('a closed port, a silent port and a port that talks nonsense are three different faults of the network', async () => {
    const listener = net.createServer((socket) => socket.on('error', () => {}))
    await new Promise<void>((resolve) => listener.listen(0, '127.0.0.1', resolve))
    const talker = net.createServer((socket) => {
      socket.on('error', () => {})
      socket.resume()
      socket.end('HTTP/1.1 400 Bad Request\r\n\r\n'.repeat(100))
    })
    await new Promise<void>((resolve) => talker.listen(0, '127.0.0.1', resolve))
    const options: SshBoxOptions = {
      auth: { password: 'x' },
      knownHostsFiles: [],
      ownKnownHostsFile: join(root, 'none'),
      onFirstUse: () => true,
      flavours: [],
      keep: false,
      connectLimitMs: 300,
    }
    const at = (port: number, signal = never) => connectSsh(`ssh://a@127.0.0.1:${port}`, options, signal)
    const silent = (listener.address() as AddressInfo).port
    expect(await faultOf(at(silent))).toMatchObject({ detail: { code: 'BOX_TIMEOUT' }, blame: 'network', retry: true })
    const nonsense = (talker.address() as AddressInfo).port
    expect((await faultOf(at(nonsense))).detail.code).toBe('BOX_UNREACHABLE')
    const interrupt = new AbortController()
    const waiting = at(silent, interrupt.signal)
    interrupt.abort(new Error('interrupted'))
    await expect(waiting).rejects.toThrow('interrupted')
    await new Promise((resolve) => talker.close(resolve))
    expect((await faultOf(at(nonsense))).detail).toMatchObject({
      code: 'BOX_UNREACHABLE',
      why: 'nothing listens on that port (ECONNREFUSED)',
    })
    listener.close()
  })

  test('a tunnel that comes late has not used up the time of the login', async () => {
    const home = join(root, 'late')
    mkdirSync(home, { recursive: true })
    const server = await startSshServer({ home, user: 'renter', password: 'secret', hostKey })
    const dial = async () => {
      await delay(2_500)
      return net.connect(server.port, '127.0.0.1')
    }
    const trust = { knownHostsFiles: [], ownKnownHostsFile: join(home, 'known'), onFirstUse: () => true }
    const to = { user: 'renter', host: '127.0.0.1', port: server.port }
    const options = { ...trust, auth: { password: 'secret' }, dial, connectLimitMs: 2_000 }
    const session = await openSession(to, options, never)
    session.abort()
    await server.close()
  })

  test('attack 504: a line whose other end hangs up is lost, also where our half would stay open', async () => {
    const home = join(root, 'half')
    mkdirSync(home, { recursive: true })
    const server = await startSshServer({ home, user: 'renter', password: 'secret', hostKey })
    const dial = async () => net.connect({ port: server.port, host: '127.0.0.1', allowHalfOpen: true })
    const trust = { knownHostsFiles: [], ownKnownHostsFile: join(home, 'known'), onFirstUse: () => true }
    const to = { user: 'renter', host: '127.0.0.1', port: server.port }
    const session = await openSession(to, { ...trust, auth: { password: 'secret' }, dial }, never)
    void server.close()
    const lost = await Promise.race([session.gone.then(() => 'lost'), delay(3_000)])
    session.abort()
    expect(lost).toBe('lost')
  })

  test('Node is recent enough from 20.19 on', () => {
    const recent = ['v20.19.0', 'v20.20.2', 'v22.0.0', 'v100.1.1'].map(isNodeRecent)
    expect(recent).toEqual([true, true, true, true])
    expect(['', 'v20.18.9', 'v18.99.0', 'node v22.0.0', '22.0.0'].map(isNodeRecent)).not.toContain(true)
  })
})

test.each([
  ['a group of its own choice', { keyExchange: 'diffie-hellman-group-exchange-sha256', compression: 'none' }],
  ['compression', { keyExchange: 'curve25519-sha256', compression: 'zlib,zlib@openssh.com' }],
])('attack 258: nothing is computed for a server that has nothing but %s', async (_, offer) => {
  const server = await startSshOffer(offer)
  const options = { auth: { password: 'secret' }, knownHostsFiles: [], ownKnownHostsFile: join(root, 'none') }
  const to = { user: 'renter', host: '127.0.0.1', port: server.port }
  await expect(openSession(to, { ...options, onFirstUse: () => true, connectLimitMs: 2_000 }, never)).rejects.toThrow(
    /does not speak SSH as we do/,
  )
  const KEY_EXCHANGE = 30
  expect(server.messages.filter((message) => message >= KEY_EXCHANGE)).toEqual([])
  server.close()
})
