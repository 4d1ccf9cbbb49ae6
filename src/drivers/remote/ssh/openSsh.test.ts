import { execFileSync, spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { faultOf, sshBoxSuite } from '../../../../test/suites/sshBoxSuite.ts'
import { keyPair } from '../../../../test/support/keyPair.ts'
import { makeRelease } from '../../../../test/support/makeRelease.ts'
import { startOpenSsh, whyNoOpenSsh } from '../../../../test/support/openSshServer.ts'
import { skipWith } from '../../../../test/support/skipWith.ts'
import { connectSsh } from './connectSsh.ts'
import { openSession } from './sshSession.ts'
import { runOnBox } from './startScript.ts'

const missing = whyNoOpenSsh()

if (missing === null)
  sshBoxSuite('OpenSSH', ({ authorizedKey, ...wanted }) => startOpenSsh({ ...wanted, authorizedKeys: authorizedKey }))
else
  skipWith('a box behind OpenSSH', `${missing}; connectSsh.test.ts runs the same suite against a server of npm install`)

const never = new AbortController().signal

/** A small file system of its own needs root and the right to mount. */
function mountSmallDisk(folder: string): boolean {
  mkdirSync(folder, { recursive: true })
  return spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=2m', 'none', folder]).status === 0
}

describe.skipIf(missing !== null)('OpenSSH and a validator that has no time', () => {
  test('an exit code that arrives together with the answer to the command is not lost', async () => {
    const root = mkdtempSync(join(tmpdir(), 'touchstone-busy-'))
    const [host, user] = [keyPair(), keyPair()]
    const wanted = { folder: join(root, 'server'), home: root, hostKey: host.private, authorizedKeys: user.public }
    const server = await startOpenSsh(wanted)
    const options = {
      auth: { privateKey: user.private },
      knownHostsFiles: [],
      ownKnownHostsFile: join(root, 'known_hosts'),
      onFirstUse: () => true,
    }
    const session = await openSession({ user: server.user, host: '127.0.0.1', port: server.directPort }, options, never)
    // Between two looks at the network everything that a short command has to say arrives.
    const busy = setInterval(() => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 150), 1)
    try {
      const command = { argv: ['sh', '-c', 'exit 7'], during: 'a test', limitMs: 30_000 }
      const { code } = await runOnBox(session, command, never)
      expect(code).toBe(7)
    } finally {
      clearInterval(busy)
      session.close()
      await server.close()
      rmSync(root, { recursive: true, force: true })
    }
  })
})

describe.skipIf(missing !== null)('OpenSSH with a disk that is full', () => {
  test('says so, and leaves nothing', async (context) => {
    const root = mkdtempSync(join(tmpdir(), 'touchstone-full-'))
    const home = join(root, 'home')
    const mounted = mountSmallDisk(home)
    if (!mounted) {
      rmSync(root, { recursive: true, force: true })
      return context.skip('mounting a small disk is not allowed here')
    }
    const [host, user] = [keyPair(), keyPair()]
    const wanted = { folder: join(root, 'server'), home, hostKey: host.private, authorizedKeys: user.public }
    const server = await startOpenSsh(wanted)
    try {
      const files = { 'p.sh': 'x'.repeat(3_000_000) }
      const directory = makeRelease(join(root, 'release'), { files, command: ['sh', 'p.sh'] })
      const options = {
        auth: { privateKey: user.private },
        knownHostsFiles: [],
        ownKnownHostsFile: join(root, 'known_hosts'),
        onFirstUse: () => true,
        flavours: [{ directory, machine: 'any', carriesNode: false }],
        keep: false,
      }
      const box = await connectSsh(`ssh://${server.user}@127.0.0.1:${server.port}`, options, never)
      expect((await faultOf(box.install(never))).detail).toMatchObject({ code: 'BOX_DISK_FULL' })
      await box.close()
      expect(readdirSync(home)).toEqual([])
    } finally {
      await server.close()
      execFileSync('umount', [home])
      rmSync(root, { recursive: true, force: true })
    }
  })
})
