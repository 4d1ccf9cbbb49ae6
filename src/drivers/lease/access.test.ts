import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { eventually } from '../../../test/support/eventually.ts'
import type { Lease } from '../../core/lease/leaseBook.ts'
import { expiryOption, isRoomy, keyLine } from './accessFolder.ts'
import { chooseAccess } from './chooseAccess.ts'
import { containerAccess, containerOf } from './containerAccess.ts'
import { fileJournal } from './fileJournal.ts'
import { sharedAccount } from './sharedAccount.ts'

const root = mkdtempSync(join(tmpdir(), 'touchstone-access-'))
afterAll(() => rmSync(root, { recursive: true, force: true }))
const never = new AbortController().signal
let count = 0

function place() {
  const folder = join(root, `box-${count++}`)
  mkdirSync(folder)
  const authorizedKeysFile = join(folder, 'ssh', 'authorized_keys')
  const stateFolder = join(folder, 'leases')
  const options = { stateFolder, host: 'h', port: 22, hostKey: 'SHA256:x', user: 'me', authorizedKeysFile }
  return {
    folder,
    options,
    keys: () => (existsSync(authorizedKeysFile) ? readFileSync(authorizedKeysFile, 'utf8') : ''),
  }
}
const leaseFor = (seconds: number): Lease => ({
  id: (count++).toString(16).padStart(32, '0'),
  holder: 'f'.repeat(64),
  purpose: 'verify',
  sshKey: 'ssh-ed25519 AAAA',
  askedAtMs: Date.now(),
  expiresAtMs: Date.now() + 1000 * seconds,
  state: 'requested',
})

describe('access into a shared account', () => {
  test('adds one key that may run commands and nothing else, and takes exactly that away again', async () => {
    const { options, keys } = place()
    const before = 'ssh-ed25519 BBBB owner@laptop'
    mkdirSync(join(options.authorizedKeysFile, '..'))
    writeFileSync(options.authorizedKeysFile, before, { mode: 0o640 })
    chmodSync(options.authorizedKeysFile, 0o640)
    const access = sharedAccount(options)
    const [one, two] = [leaseFor(60), leaseFor(60)]
    expect(await access.open(one, never)).toMatchObject({ user: 'me', confinement: 'shared account' })
    await access.open(two, never)
    const lines = keys().trim().split('\n')
    expect(lines[0]).toBe(before)
    expect(lines[1]).toMatch(
      /^restrict,expiry-time="\d{14}",command="\/bin\/sh \S+ \S+" ssh-ed25519 AAAA touchstone-lease-/,
    )
    expect(statSync(options.authorizedKeysFile).mode & 0o777).toBe(0o640)
    await access.close(one.id)
    expect(keys().trim().split('\n')).toEqual([before, lines[2]])
    await access.close(two.id)
    await access.close(two.id)
    await access.close(leaseFor(1).id)
    expect(keys()).toBe(`${before}\n`)
    expect(existsSync(join(options.stateFolder, 'open', two.id))).toBe(false)
  })

  test('ends by itself when nobody closes it', async () => {
    const { options, keys } = place()
    const lease = leaseFor(4)
    await sharedAccount(options).open(lease, never)
    expect(keys()).toContain('touchstone-lease')
    await eventually(() => !keys().includes('touchstone-lease'))
    await eventually(() => !existsSync(join(options.stateFolder, 'open', lease.id)))
  })

  test('a lease that is over before it is open opens nothing', async () => {
    for (let turn = 0; turn < 5; turn++) {
      const { options, keys } = place()
      const access = sharedAccount(options)
      const late = { ...leaseFor(0), expiresAtMs: Date.now() - 5_000 }
      await access.open(late, never).catch((error: unknown) => {
        expect(error).toMatchObject({ detail: { code: 'LEASE_TOO_SHORT' } })
      })
      await eventually(() => !keys().includes('touchstone-lease'))
      await eventually(() => !existsSync(join(options.stateFolder, 'open', late.id)))
    }
  })

  test('attack 12: a path or id that a shell would read in its own way is refused', async () => {
    const { options } = place()
    for (const odd of ['/tmp/a b', '/tmp/$(id)', '/tmp/a"b', 'relative', '/tmp/a\nb'])
      expect(() => sharedAccount({ ...options, authorizedKeysFile: odd })).toThrow(/characters/)
    await expect(sharedAccount(options).close('../../etc')).rejects.toThrow(/id of a lease/)
  })
})

describe('attack 524: while what another left is still being removed', () => {
  /** A folder of a lease that is over, as closing leaves it for as long as it sweeps. */
  function closing(stateFolder: string, home: string): string {
    const folder = join(stateFolder, 'open', `${'e'.repeat(32)}.closed`)
    mkdirSync(folder, { recursive: true })
    writeFileSync(join(folder, 'home'), `${home}\n`)
    return folder
  }
  const HOUR_MS = 3_600_000
  /** A file system without room, and one with enough for this. */
  const [FULL_HOME, HOME] = ['/proc/ts-a', join(root, 'ts-a')]

  test('a box without room for a release opens nothing, and says why; it opens when all is gone', async () => {
    const { options, keys } = place()
    const access = sharedAccount({ ...options, roomWaitMs: 300 })
    const left = closing(options.stateFolder, FULL_HOME)
    await expect(access.open(leaseFor(60), never)).rejects.toMatchObject({ detail: { code: 'STILL_CLEARING' } })
    expect(keys()).toBe('')
    rmSync(left, { recursive: true })
    const lease = leaseFor(60)
    await access.open(lease, never)
    await access.close(lease.id)
  })

  test('attack 526: it waits a moment for room, and room is for files as well as for bytes', async () => {
    const { options } = place()
    const left = closing(options.stateFolder, FULL_HOME)
    setTimeout(() => rmSync(left, { recursive: true }), 700)
    const lease = leaseFor(60)
    const access = sharedAccount(options)
    await access.open(lease, never)
    await access.close(lease.id)
    const disk = { bavail: 1e6, bsize: 4096, files: 3e6, ffree: 2e6 }
    const rooms = [disk, { ...disk, ffree: 16 }, { ...disk, bavail: 1000 }, { ...disk, files: 0, ffree: 0 }].map(
      isRoomy,
    )
    expect(rooms).toEqual([true, false, false, true])
  })

  test('so it is where opening fails; a fault by itself is told as what it is, also beside what was left for ever', async () => {
    const { options } = place()
    const access = sharedAccount(options)
    mkdirSync(options.authorizedKeysFile, { recursive: true })
    const codeOf = async () => {
      const lease = leaseFor(60)
      const error = await access.open(lease, never).catch((thrown: unknown) => thrown as { detail?: { code: string } })
      await access.close(lease.id).catch(() => {})
      rmSync(join(options.stateFolder, 'open', `${lease.id}.closed`), { recursive: true, force: true })
      return (error as { detail?: { code: string } }).detail?.code
    }
    expect(await codeOf()).not.toBe('STILL_CLEARING')
    const left = closing(options.stateFolder, HOME)
    expect(await codeOf()).toBe('STILL_CLEARING')
    const before = new Date(Date.now() - 2 * HOUR_MS)
    utimesSync(left, before, before)
    expect(await codeOf()).not.toBe('STILL_CLEARING')
  })
})

describe('access into a container', () => {
  /** Stands in for docker: notes what it is asked, keeps containers as files, and answers nothing while it is down. */
  function fakeEngine(folder: string): string {
    const path = join(folder, 'docker')
    writeFileSync(
      path,
      `#!/bin/sh
printf '%s\\n' "$*" >> '${folder}/asked'
if [ -e '${folder}/down' ]; then echo 'no daemon' >&2; exit 1; fi
case "$1 $*" in
  'run '*other-image*) echo 'no such image' >&2; exit 125 ;;
  'run '*) for word; do [ "$last" = --name ] && touch '${folder}/'"$word"; last=$word; done ;;
  'rm '*) rm -f '${folder}/'"$3" ;;
  'ps '*) [ ! -e '${folder}/'"\${5#name=}" ] || echo 0123 ;;
esac
`,
      { mode: 0o755 },
    )
    return path
  }

  test('starts one container per lease without network or privileges, and removes it with the key', async () => {
    const { folder, options, keys } = place()
    const engine = fakeEngine(folder)
    const env = { DOCKER_HOST: 'unix:///run/user/1000/docker.sock', HOME: '/root' }
    const access = containerAccess({ ...options, engine, image: 'lease-image', gpuFlags: ['--gpus', 'all'], env })
    const lease = leaseFor(60)
    expect(await access.open(lease, never)).toMatchObject({ confinement: 'container' })
    const asked = readFileSync(join(folder, 'asked'), 'utf8')
    expect(asked).toContain('--network none --cap-drop ALL --security-opt no-new-privileges --pull never')
    expect(asked).toContain('--gpus all --entrypoint sh lease-image -c ')
    expect(keys()).toContain(`container-shell.sh ${engine} ${containerOf(lease.id)}"`)
    const shell = readFileSync(join(options.stateFolder, 'container-shell.sh'), 'utf8')
    expect(shell.match(/^export .*$/gm)).toEqual(['export DOCKER_HOST=unix:///run/user/1000/docker.sock'])
    await access.close(lease.id)
    expect(keys()).toBe('')
    expect(existsSync(join(folder, containerOf(lease.id)))).toBe(false)
  })

  test('an engine that does not answer has closed nothing: the key goes, and closing is tried again', async () => {
    const { folder, options, keys } = place()
    const engine = fakeEngine(folder)
    const access = containerAccess({ ...options, engine, image: 'lease-image', gpuFlags: [], env: {} })
    const lease = leaseFor(60)
    await access.open(lease, never)
    writeFileSync(join(folder, 'down'), '')
    await expect(access.close(lease.id)).rejects.toMatchObject({ detail: { code: 'ACCESS_COMMAND_FAILED' } })
    expect(keys()).toBe('')
    rmSync(join(folder, 'down'))
    await access.close(lease.id)
    expect(existsSync(join(folder, containerOf(lease.id)))).toBe(false)
  })

  test('attack 12: a setting that a shell would read in its own way is refused', () => {
    const { options } = place()
    const access = (DOCKER_HOST: string) =>
      containerAccess({ ...options, engine: '/bin/docker', image: 'i', gpuFlags: [], env: { DOCKER_HOST } })
    for (const odd of ['$(id)', 'a b', 'a;b', "a'b", 'a\nb'])
      expect(() => access(odd)).toThrow(/DOCKER_HOST contains characters/)
  })

  test('the best confinement at hand is chosen, and what is insisted on is had or refused', async () => {
    const { folder, options } = place()
    fakeEngine(folder)
    const env = { PATH: folder }
    const choice = { ...options, isRoot: false, env, wanted: 'auto' as const }
    const chosen = async (over: object): Promise<string> => (await chooseAccess({ ...choice, ...over })).confinement
    expect(await chosen({ image: 'lease-image' })).toBe('container')
    expect(await chosen({ image: 'other-image' })).toBe('shared account')
    expect((await chooseAccess({ ...choice, image: 'other-image' })).noContainer).toBe(
      'docker cannot run one: no such image',
    )
    expect((await chooseAccess(choice)).noContainer).toBe('')
    expect(await chosen({})).toBe('shared account')
    writeFileSync(join(folder, 'useradd'), '')
    expect(await chosen({ isRoot: true })).toBe('own account')
    expect(await chosen({ isRoot: true, wanted: 'shared account' })).toBe('shared account')
    await expect(chosen({ wanted: 'container' })).rejects.toMatchObject({ detail: { code: 'NO_SUCH_CONFINEMENT' } })
    await expect(chosen({ wanted: 'container', image: 'other-image' })).rejects.toThrow(
      'to: container: docker cannot run one: no such image',
    )
  })
})

describe('the journal of leases', () => {
  test('reads back what was written, is empty before, and says so when it is damaged', async () => {
    const path = join(root, 'journal', 'leases.json')
    const journal = fileJournal(path)
    expect(await journal.read()).toEqual({ leases: [] })
    const book = { leases: [leaseFor(5)] }
    await journal.write(book)
    expect(await journal.read()).toEqual(book)
    expect(statSync(path).mode & 0o777).toBe(0o600)
    writeFileSync(path, '{"leases":[{"id":"../x"}]}')
    await expect(journal.read()).rejects.toMatchObject({ detail: { code: 'JOURNAL_DAMAGED' } })
  })

  test('an end in local time is what sshd reads', () => {
    expect(expiryOption(new Date(2026, 0, 2, 3, 4, 5, 999).getTime())).toBe('expiry-time="20260102030405"')
  })

  test('a terminal and forwarded ports only for whoever rents an account of its own', () => {
    const lease = { ...leaseFor(60), expiresAtMs: new Date(2026, 0, 2).getTime() }
    const until = 'expiry-time="20260102000000"'
    expect(keyLine(lease)).toMatch(new RegExp(`^restrict,${until} ssh-`))
    expect(keyLine({ ...lease, purpose: 'rent' })).toMatch(new RegExp(`^restrict,pty,port-forwarding,${until} ssh-`))
    expect(keyLine({ ...lease, purpose: 'rent' }, 'x')).toMatch(new RegExp(`^restrict,${until},command="x" ssh-`))
  })
})
