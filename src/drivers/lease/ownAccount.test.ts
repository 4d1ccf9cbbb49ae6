import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import {
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test, vi } from 'vitest'
import { isAlive } from '../../../test/support/processes.ts'
import type { Lease } from '../../core/lease/leaseBook.ts'
import { systemRandomness } from '../system/systemRandomness.ts'
import { FIRST_UID, nextUid, PAST_UIDS } from './nextUid.ts'
import { accountOf, ownAccount } from './ownAccount.ts'

const has = (program: string): boolean => spawnSync('which', [program]).status === 0
const missing =
  process.getuid?.() !== 0 ? 'only root can make accounts' : ['perl', 'useradd'].find((program) => !has(program))
if (missing !== undefined) console.log(`tests of accounts skipped: ${missing}`)

const root = mkdtempSync(join(tmpdir(), 'touchstone-own-account-'))
afterAll(() => rmSync(root, { recursive: true, force: true }))
const never = new AbortController().signal

const lease = (): Lease => ({
  id: Buffer.from(systemRandomness.bytes(16)).toString('hex'),
  holder: 'f'.repeat(64),
  purpose: 'verify',
  sshKey: 'ssh-ed25519 AAAA',
  askedAtMs: Date.now(),
  expiresAtMs: Date.now() + 600_000,
  state: 'requested',
})

const uidOf = (user: string): number => Number(spawnSync('id', ['-u', user], { encoding: 'utf8' }).stdout)

/** Sweeping goes on by itself when a lease is closed. */
const swept = (look: () => void) => vi.waitFor(look, { timeout: 30_000, interval: 100 })

/** Ends whatever a failed test has left of an account. The real id is nobody's, so that it reaches no process of root. */
function endAll(uid: number): void {
  const [real, become] = [2_110_000_002, `($<, $>) = (2110000002, ${uid})`]
  if (uid > 1000) spawnSync('perl', ['-e', `${become}; $< == ${real} && $> == ${uid} or die; kill "KILL", -1`])
}

/** Starts a program in an account. `ended` settles when nobody is left who got its output, seen in /proc or not. */
async function startAs(
  uid: number,
  script: string,
): Promise<{ readonly pid: number; readonly ended: Promise<unknown> }> {
  const options = { uid, gid: uid, detached: true, cwd: '/' }
  const { stdout, pid } = spawn('perl', ['-e', `$| = 1; print "up"; ${script}`], {
    ...options,
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  const ended = once(stdout, 'close')
  await once(stdout, 'data')
  stdout.resume()
  return { pid: pid!, ended }
}

/** Every process lives for a moment: it starts the next one and ends. */
const CHAIN = 'while (1) { defined(my $p = fork) or next; exit if $p }'
/** The same, and each shoots at the process ids that come next, where whoever wants to end it must start. */
const SHOOTING_CHAIN = 'while (1) { kill "KILL", ($$ + 1) .. ($$ + 40); defined(my $p = fork) or next; exit if $p }'

const PATH = process.env.PATH!

/** What the script that closes an account needs, but for perl, in a folder to stand in for PATH. */
const NEEDED = 'sh mv cat id getent cut rm chown chmod awk find usermod userdel groupdel ipcrm setpriv sort sleep xargs'

function programsWithoutPerl(): string {
  const folder = join(root, 'bin')
  mkdirSync(folder)
  for (const name of NEEDED.split(' ')) {
    const place = PATH.split(':').find((one) => existsSync(join(one, name)))
    if (place !== undefined) symlinkSync(join(place, name), join(folder, name))
  }
  return folder
}

describe.skipIf(missing !== undefined)('an account of its own', () => {
  const options = (name: string) => ({
    stateFolder: join(root, name),
    uidFile: join(root, 'lease-uid'),
    host: 'h',
    port: 22,
    hostKey: 'SHA256:x',
  })

  test.each([
    ['forks and exits in turn', CHAIN, true],
    ['does so on a machine without perl', CHAIN, false],
    ['does so and shoots at whoever comes to end it', SHOOTING_CHAIN, true],
  ])('attack 86: a process that %s does not outlive the lease', async (_, script, perl) => {
    const access = ownAccount(options('chain'))
    const held = lease()
    await access.open(held, never)
    const uid = uidOf(accountOf(held.id))
    try {
      const chain = await startAs(uid, script)
      if (!perl) process.env.PATH = programsWithoutPerl()
      await access.close(held.id)
      await chain.ended
      process.env.PATH = PATH
      expect(uidOf(accountOf(held.id))).toBe(0)
    } finally {
      process.env.PATH = PATH
      endAll(uid)
    }
  })

  test('attack 86: what it left in memory, among temporary files and for later is swept', async () => {
    const access = ownAccount(options('swept'))
    const held = lease()
    await access.open(held, never)
    const user = accountOf(held.id)
    const uid = uidOf(user)
    const places = ['/tmp', '/var/tmp', '/dev/shm'].map((folder) => join(folder, `left-${held.id}`))
    const script = `mkdir "$0" && echo secret > "$0/file"`
    const spools = ['/var/spool/cron/crontabs', '/var/spool/cron/atjobs']
    const spooled = [join(spools[0]!, user), join(spools[1]!, `a${held.id}`)]
    const made = ['/var/spool/cron', ...spools].filter((spool) => !existsSync(spool))
    try {
      for (const place of places) expect(spawnSync('sh', ['-c', script, place], { uid, gid: uid }).status).toBe(0)
      const shared = `shmget(0x5eed${held.id.slice(0, 4)}, 4096, 01600) // die; msgget(0x5eed${held.id.slice(0, 4)}, 01600) // die`
      const semaphores = `semget(0x5eed${held.id.slice(0, 4)}, 1, 01600) // die`
      expect(spawnSync('perl', ['-e', `${shared}; ${semaphores}`], { uid, gid: uid }).status).toBe(0)
      for (const spool of spools) mkdirSync(spool, { recursive: true })
      for (const path of spooled) writeFileSync(path, '* * * * * true\n')
      spawnSync('chown', [String(uid), ...spooled])
      expect(ipcOf(uid)).toEqual(['msg', 'sem', 'shm'])
      await access.close(held.id)
      expect(spooled.filter((path) => existsSync(path))).toEqual([])
      await swept(() => expect(places.filter((place) => existsSync(place))).toEqual([]))
      expect(ipcOf(uid)).toEqual([])
    } finally {
      endAll(uid)
      for (const spool of made) rmSync(spool, { recursive: true, force: true })
    }
  })

  test('attack 490: who left much to be swept holds up nobody; it goes all the same', async () => {
    const access = ownAccount(options('much'))
    const held = lease()
    await access.open(held, never)
    const uid = uidOf(accountOf(held.id))
    const place = join('/tmp', `left-${held.id}`)
    const bin = join(root, 'slow')
    mkdirSync(bin)
    const slow = `case $1 in /tmp) sleep 4 ;; esac; PATH=$(printf %s "$PATH" | cut -d: -f2-) exec find "$@"`
    writeFileSync(join(bin, 'find'), `#!/bin/sh\n${slow}\n`, { mode: 0o755 })
    try {
      expect(spawnSync('mkdir', [place], { uid, gid: uid }).status).toBe(0)
      process.env.PATH = `${bin}:${PATH}`
      await access.close(held.id)
      process.env.PATH = PATH
      expect(uidOf(accountOf(held.id))).toBe(0)
      const folder = join(root, 'much', 'open', `${held.id}.closed`)
      expect(existsSync(folder)).toBe(true)
      await swept(() => expect(existsSync(folder)).toBe(false))
      expect(existsSync(place)).toBe(false)
      expect(existsSync(join('/home', accountOf(held.id)))).toBe(false)
    } finally {
      process.env.PATH = PATH
      endAll(uid)
    }
  })

  test('attack 524: what is large goes before what takes long, and the others wait for one to sweep', async () => {
    const access = ownAccount(options('large'))
    const held = [lease(), lease()]
    for (const one of held) await access.open(one, never)
    const [first] = held as [Lease, Lease]
    const uid = uidOf(accountOf(first.id))
    const places = [join('/home', accountOf(first.id)), '/var/tmp'].map((folder) => join(folder, `left-${first.id}`))
    const bin = join(root, 'slow-for-many')
    mkdirSync(bin)
    const running = join(root, 'running')
    // Whoever looks for all that is in a home takes two seconds, and notes it where another does so meanwhile.
    const slow = `case "$*" in *-size*) ;; /home/*) mkdir ${running} || touch ${running}/two; sleep 2; rmdir ${running} ;; esac`
    const real = `PATH=$(printf %s "$PATH" | cut -d: -f2-) exec find "$@"`
    writeFileSync(join(bin, 'find'), `#!/bin/sh\n${slow}\n${real}\n`, { mode: 0o755 })
    try {
      for (const [name, size] of [
        ['large', 2048],
        ['small', 1],
      ])
        for (const place of places)
          spawnSync('dd', ['if=/dev/zero', `of=${place}-${name}`, 'bs=1024', `count=${size}`], { uid, gid: uid })
      const left = () => places.flatMap((place) => ['large', 'small'].map((name) => existsSync(`${place}-${name}`)))
      expect(left()).toEqual([true, true, true, true])
      process.env.PATH = `${bin}:${PATH}`
      await Promise.all(held.map(({ id }) => access.close(id)))
      process.env.PATH = PATH
      await swept(() => expect(left()).toEqual([false, true, false, true]))
      const folders = held.map(({ id }) => join(root, 'large', 'open', `${id}.closed`))
      await swept(() => expect(folders.map((folder) => existsSync(folder))).toEqual([false, false]))
      expect(left()).toEqual([false, false, false, false])
      expect(existsSync(running)).toBe(false)
    } finally {
      process.env.PATH = PATH
      for (const { id } of held) endAll(uidOf(accountOf(id)))
    }
  })

  test("attack 245: a tenant whose .ssh leads to the folder of somebody else takes nobody's keys away", async () => {
    const access = ownAccount(options('linked'))
    const held = lease()
    await access.open(held, never)
    const user = accountOf(held.id)
    const uid = uidOf(user)
    const home = spawnSync('sh', ['-c', `echo ~${user}`], { encoding: 'utf8' }).stdout.trim()
    const owners = join(root, 'owner', '.ssh')
    mkdirSync(owners, { recursive: true, mode: 0o700 })
    writeFileSync(join(owners, 'authorized_keys'), 'ssh-ed25519 AAAA owner\n', { mode: 0o600 })
    try {
      const swap = 'mv "$1/.ssh" "$1/kept" && ln -s "$2" "$1/.ssh"'
      expect(spawnSync('sh', ['-c', swap, 'sh', home, owners], { uid, gid: uid }).status).toBe(0)
      await access.close(held.id)
      expect(readFileSync(join(owners, 'authorized_keys'), 'utf8')).toContain('owner')
      expect([existsSync(home), uidOf(user)]).toEqual([false, 0])
    } finally {
      endAll(uid)
    }
  })

  test('attack 280: a service of root that waits for the tenant, with its user id, does not keep the lease open', async () => {
    const access = ownAccount(options('servant'))
    const held = lease()
    await access.open(held, never)
    const uid = uidOf(accountOf(held.id))
    // As sshd does while PAM reads .pam_environment, which may be a pipe.
    const servant = await startAs(0, `$> = ${uid}; $> == ${uid} or exit; sleep 600`)
    try {
      await access.close(held.id)
      await servant.ended
      expect(uidOf(accountOf(held.id))).toBe(0)
    } finally {
      if (isAlive(servant.pid)) process.kill(servant.pid, 'SIGKILL')
    }
  })

  test('attack 281: what a tenant starts as an earlier one, with a setuid copy that he left, ends too', async () => {
    const access = ownAccount(options('earlier'))
    const [held, another] = [lease(), lease()]
    const earlier = await nextUid(join(root, 'lease-uid'))
    const file = join('/var/tmp', `left-${held.id}`)
    for (const one of [held, another]) await access.open(one, never)
    const uids = [earlier, ...[held, another].map(({ id }) => uidOf(accountOf(id)))]
    try {
      writeFileSync(file, '')
      chownSync(file, earlier, earlier)
      const [sleeper, chain] = [await startAs(earlier, 'sleep 600'), await startAs(earlier, CHAIN)]
      const beside = await startAs(uids[2]!, 'sleep 600')
      await access.close(held.id)
      await Promise.all([sleeper.ended, chain.ended])
      await swept(() => expect(existsSync(file)).toBe(false))
      // Another lease that is open on this machine is none of it.
      expect(isAlive(beside.pid)).toBe(true)
      await access.close(another.id)
      await beside.ended
    } finally {
      for (const uid of uids) endAll(uid)
    }
  })

  test('attack 86: the next lease has another user id, and a control group of the account is killed too', async () => {
    const controlGroups = join(root, 'groups')
    const access = ownAccount({ ...options('ids'), controlGroups })
    const seen: number[] = []
    for (let turn = 0; turn < 2; turn++) {
      const held = lease()
      await access.open(held, never)
      const uid = uidOf(accountOf(held.id))
      seen.push(uid)
      const slice = join(controlGroups, 'user.slice', `user-${uid}.slice`)
      mkdirSync(slice, { recursive: true })
      writeFileSync(join(slice, 'cgroup.kill'), '')
      const sleeper = await startAs(uid, 'sleep 600')
      await access.close(held.id)
      expect(readFileSync(join(slice, 'cgroup.kill'), 'utf8')).toBe('1\n')
      await sleeper.ended
    }
    expect(seen[1]).toBeGreaterThan(seen[0]!)
  })
})

describe('user ids of leases', () => {
  const file = join(root, 'counter', 'lease-uid')
  const year = Date.UTC(2026, 0, 1)

  test('attack 86: go up, are on disk before they are used, and go on from the time if the file is lost', async () => {
    expect(await nextUid(file, year)).toBe(FIRST_UID)
    expect(readFileSync(file, 'utf8')).toBe(`${FIRST_UID + 1}\n`)
    expect(await nextUid(file, year)).toBe(FIRST_UID + 1)
    // A clock that was set back changes nothing.
    expect(await nextUid(file, 0)).toBe(FIRST_UID + 2)
    for (const lost of ['', 'nonsense', '-1\n', '99999999999\n']) {
      writeFileSync(file, lost)
      expect(await nextUid(file, year + 3_600_000)).toBe(FIRST_UID + 60)
    }
    writeFileSync(file, `${PAST_UIDS}\n`)
    await expect(nextUid(file, year)).rejects.toMatchObject({ detail: { code: 'USER_IDS_USED_UP' } })
  })
})

/** Kinds of System V objects of an account. */
const ipcOf = (uid: number): readonly string[] =>
  ['msg', 'sem', 'shm'].filter((kind) =>
    readFileSync(`/proc/sysvipc/${kind}`, 'utf8')
      .split('\n')
      .some((line) => line.split(/\s+/).includes(String(uid))),
  )
