import { execFile, spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, describe, expect, test } from 'vitest'
import { SCRIPTS } from '../../../test/suites/sshBoxSuite.ts'
import { eventually } from '../../../test/support/eventually.ts'
import { keyPair } from '../../../test/support/keyPair.ts'
import { makeRelease } from '../../../test/support/makeRelease.ts'
import { startOpenSsh, whyNoOpenSsh } from '../../../test/support/openSshServer.ts'
import { firstLine, isAlive } from '../../../test/support/processes.ts'
import type { Lease } from '../../core/lease/leaseBook.ts'
import { openSshKey } from '../remote/leased/openSshKey.ts'
import { connectSsh } from '../remote/ssh/connectSsh.ts'
import { fingerprintOf } from '../remote/ssh/knownHosts.ts'
import { systemRandomness } from '../system/systemRandomness.ts'
import { accountOf, ownAccount } from './ownAccount.ts'

/** Makes and removes real accounts, so it only runs where root asks for the long tests. */
const missing = process.getuid?.() === 0 ? whyNoOpenSsh() : 'only root can make accounts'
if (missing !== null) console.log(`tests of accounts skipped: ${missing}`)

const root = mkdtempSync(join(tmpdir(), 'touchstone-accounts-'))
afterAll(() => rmSync(root, { recursive: true, force: true }))
const never = new AbortController().signal
/** What ended may still be listed until its parent looks. */
const living = (uid: string): string[] => {
  const { stdout } = spawnSync('ps', ['-u', uid, '-o', 'stat=,cmd='], { encoding: 'utf8' })
  return stdout.split('\n').filter((line) => line.trim() !== '' && !line.startsWith('Z'))
}
const exists = (user: string): boolean => spawnSync('id', [user]).status === 0

describe.skipIf(missing !== null)('access into an account of its own', () => {
  test.each(['closed by the provider', 'closed by the watchdog'])(
    'runs without root, and leaves no account, file or process: %s',
    async (way) => {
      const folder = join(root, way.replaceAll(' ', '-'))
      mkdirSync(folder)
      const host = keyPair()
      const server = await startOpenSsh({
        folder: join(folder, 'server'),
        home: null,
        hostKey: host.private,
        authorizedKeys: '',
        keysPattern: '.ssh/authorized_keys',
      })
      const access = ownAccount({
        stateFolder: join(folder, 'leases'),
        uidFile: join(root, 'lease-uid'),
        host: '127.0.0.1',
        port: server.port,
        hostKey: fingerprintOf(Buffer.from(host.public.split(' ')[1]!, 'base64')),
      })
      const key = openSshKey(systemRandomness.bytes(32))
      const lease: Lease = {
        id: Buffer.from(systemRandomness.bytes(16)).toString('hex'),
        holder: 'f'.repeat(64),
        purpose: 'verify',
        sshKey: key.publicLine,
        askedAtMs: Date.now(),
        expiresAtMs: Date.now() + (way.includes('watchdog') ? 6_000 : 60_000),
        state: 'requested',
      }
      const user = accountOf(lease.id)
      try {
        const details = await access.open(lease, never)
        expect(details).toMatchObject({ user, confinement: 'own account' })
        const leaver = `id -u > uid; setsid sh -c "trap '' TERM HUP; while :; do sleep 1; done" </dev/null >/dev/null 2>&1 &\n`
        const files = { 'p.sh': `${leaver}${SCRIPTS.hang}` }
        const directory = makeRelease(join(folder, 'release'), { files, command: ['sh', 'p.sh'] })
        const options = {
          auth: { privateKey: key.privateKey },
          hostKey: details.hostKey,
          knownHostsFiles: [],
          ownKnownHostsFile: join(folder, 'known_hosts'),
          onFirstUse: () => false,
          flavours: [{ directory, machine: 'any', carriesNode: false }],
          keep: true,
        }
        const box = await connectSsh(`ssh://${user}@127.0.0.1:${server.port}`, options, never)
        const prover = await box.start(never)
        const pids = (await firstLine(prover)).split(' ').map(Number)
        expect(pids.every(isAlive)).toBe(true)
        const uid = spawnSync('id', ['-u', user], { encoding: 'utf8' }).stdout.trim()
        expect(Number(uid)).toBeGreaterThan(0)
        if (!way.includes('watchdog')) await access.close(lease.id)
        await prover.ended
        await eventually(() => !exists(user))
        // Its files go last (attack 490).
        await eventually(() => !existsSync(`/home/${user}`))
        expect(pids.some(isAlive)).toBe(false)
        expect(living(uid)).toEqual([])
        await expect(connectSsh(`ssh://${user}@127.0.0.1:${server.port}`, options, never)).rejects.toThrow(/refused us/)
        await box.close()
      } finally {
        await access.close(lease.id)
        await server.close()
      }
    },
  )

  test('whoever rents it has a terminal, whoever verifies has none', async () => {
    const folder = join(root, 'terminal')
    mkdirSync(folder)
    const host = keyPair()
    const place = { folder: join(folder, 'server'), home: null, keysPattern: '.ssh/authorized_keys' }
    const server = await startOpenSsh({ ...place, hostKey: host.private, authorizedKeys: '' })
    const uidFile = join(folder, 'lease-uid')
    // Far above what other tests take at the same time: each has a file of its own, and all begin with the minute.
    writeFileSync(uidFile, '2050000000\n')
    const where = { host: '127.0.0.1', port: server.port, hostKey: 'SHA256:x' }
    const access = ownAccount({ stateFolder: join(folder, 'leases'), uidFile, ...where })
    const pair = openSshKey(systemRandomness.bytes(32))
    const identity = join(folder, 'id')
    writeFileSync(identity, pair.privateKey, { mode: 0o600 })
    const terminalOf = async (purpose: Lease['purpose']): Promise<string> => {
      const id = Buffer.from(systemRandomness.bytes(16)).toString('hex')
      const times = { askedAtMs: Date.now(), expiresAtMs: Date.now() + 60_000 }
      const lease = {
        id,
        holder: 'f'.repeat(64),
        purpose,
        sshKey: pair.publicLine,
        ...times,
        state: 'requested',
      } as const
      try {
        const { user } = await access.open(lease, never)
        const trust = ['-o', 'StrictHostKeyChecking=no', '-o', 'UserKnownHostsFile=/dev/null', '-o', 'LogLevel=ERROR']
        const args = ['-tt', '-i', identity, '-p', String(server.port), ...trust, `${user}@127.0.0.1`, 'tty']
        return (await promisify(execFile)('ssh', args).catch(({ stdout }: { stdout: string }) => ({ stdout }))).stdout
      } finally {
        await access.close(id)
      }
    }
    try {
      expect(await terminalOf('rent')).toMatch(/^\/dev\/pts\/\d+/)
      expect(await terminalOf('verify')).not.toContain('/dev/pts')
    } finally {
      await server.close()
    }
  })
})
