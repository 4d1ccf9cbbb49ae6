import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir, userInfo } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterAll, describe, expect, test } from 'vitest'
import { faultOf } from '../../../../test/suites/sshBoxSuite.ts'
import { keyPair } from '../../../../test/support/keyPair.ts'
import { startSshServer } from '../../../../test/support/sshServer.ts'
import { TouchstoneError } from '../../../ports/errors.ts'
import { routeOf } from './sshRoute.ts'
import { openSession } from './sshSession.ts'
import { joinPasted, parseSshTarget } from './sshTarget.ts'

const never = new AbortController().signal
const me = userInfo().username
const empty = mkdtempSync(join(tmpdir(), 'touchstone-pasted-'))
afterAll(() => rmSync(empty, { recursive: true, force: true }))

/** A command line of a seller, after `ssh`. */
type Words = readonly string[]
const parse = (words: Words) => parseSshTarget(joinPasted(['ssh', ...words])[0]!)
const pathOf = async (words: Words) => {
  const { to, jumps, onlyIpVersion } = await routeOf(parse(words), me, never)
  return { ...to, jump: jumps.map(({ host }) => host).join(), onlyIpVersion }
}
const refusedAsNull = (error: unknown): null => {
  if (error instanceof TouchstoneError && /BAD_ADDRESS|SSH_SETTINGS/.test(error.detail.code)) return null
  throw error
}

/** Where ssh goes; null where it refuses. */
function ofSsh(words: Words) {
  const { status, stdout } = spawnSync('ssh', ['-G', ...words], { encoding: 'utf8' })
  if (status !== 0) return null
  const one = (name: string) => new RegExp(`^${name} (.*)$`, 'm').exec(stdout)?.[1]
  const onlyIpVersion = { inet: 4, inet6: 6 }[one('addressfamily')!] ?? null
  const to = { user: one('user'), host: one('hostname'), port: Number(one('port')) }
  return { ...to, jump: one('proxyjump') ?? '', onlyIpVersion }
}

const whyNoSsh = spawnSync('ssh', ['-V']).error === undefined ? null : 'no ssh is installed'
if (whyNoSsh !== null && process.env.TOUCHSTONE_REQUIRE_OPENSSH === '1') throw new Error(whyNoSsh)

/** Nobody's settings. */
const BARE = ['-F', '/dev/null']

describe.skipIf(whyNoSsh !== null)(`a pasted command leads where ssh goes${whyNoSsh ? ` (${whyNoSsh})` : ''}`, () => {
  test.each([
    [['-p', '2222', 'root@h'], { user: 'root', host: 'h', port: 2222 }],
    [['podid-1@ssh.example', '-i', '/dev/null'], { user: 'podid-1', host: 'ssh.example', port: 22 }],
    [['-tAp2222', '-l', 'me', 'h', '-L', '8080:localhost:8080', '-N'], { user: 'me', host: 'h', port: 2222 }],
    [['ssh://root@H:2222'], { user: 'root', host: 'h', port: 2222 }],
    [['-o', 'StrictHostKeyChecking=no', '-J', 'hop', 'root@h'], { user: 'root', host: 'h', port: 22, jump: 'hop' }],
    [['-6', 'root@h'], { user: 'root', host: 'h', port: 22, onlyIpVersion: 6 }],
    [['-o', 'AddressFamily=inet', 'root@h'], { user: 'root', host: 'h', port: 22, onlyIpVersion: 4 }],
  ])('%j', async (words, expected) => {
    const path = await pathOf([...BARE, ...words])
    expect(path).toMatchObject(expected)
    expect(path).toEqual(ofSsh([...BARE, ...words]))
  })

  test('property, attack 315: host, user, port, jump and addresses are those of ssh, or it is refused', async () => {
    const host = fc.constantFrom('good', 'bad.example', '203.0.113.7', '2001:db8::7', 'bad:2222')
    const user = fc.constantFrom('', 'podgood@', 'podbad@')
    const port = fc.constantFrom('22', '2222')
    const place = fc.tuple(user, host).map((parts) => [parts.join('')])
    const uri = fc.tuple(user, port).map(([who, at]) => [`ssh://${who}bad:${at}`])
    const setting = fc
      .constantFrom(
        'Port=2222',
        'User=podbad',
        'HostName=bad',
        'ProxyJump=bad',
        'Compression=yes',
        'AddressFamily=inet6',
      )
      .map((text) => ['-o', text])
    const blank = fc.constantFrom('-o', '-E', '-i').map((letter) => [letter, 'SendEnv=LANG root@good'])
    const valued = fc.constantFrom(['-l', 'podgood'], ['-lpodbad'], ['-J', 'hop'], ['-i', 'k'], ['-L', '1:h:1'])
    const ported = port.chain((at) => fc.constantFrom(['-p', at], [`-Np${at}`]))
    const flag = fc.constantFrom(['-4'], ['-6'], ['-tT'], ['--'], ['-v'], ['nvidia-smi'], ['-E', 'root@good'])
    const odd = fc.oneof(setting, blank, flag)
    const options = fc.array(fc.oneof({ weight: 3, arbitrary: fc.oneof(ported, valued) }, odd), { maxLength: 3 })
    const line = fc.tuple(options, fc.oneof(place, uri), options).map((parts) => parts.flat(2))
    let obeyed = 0
    await fc.assert(
      fc.asyncProperty(line, async (words) => {
        const path = await pathOf([...BARE, ...words]).catch(refusedAsNull)
        if (path === null) return
        obeyed++
        const real = ofSsh([...BARE, ...words])
        expect(path).toEqual(real)
        // So does a fleet, and whoever has no ssh: with the words alone.
        const { host, user = me, port = 22, jump = '', settings } = parse(words)
        if (settings === undefined) expect({ host, user, port, jump, onlyIpVersion: null }).toEqual(real)
      }),
      { numRuns: 120 },
    )
    expect(obeyed).toBeGreaterThan(10)
  })
})

describe('where no ssh is installed', () => {
  const without = async <T>(work: () => Promise<T>): Promise<T> => {
    const { PATH } = process.env
    process.env.PATH = empty
    try {
      return await work()
    } finally {
      process.env.PATH = PATH
    }
  }

  test.each([
    [['-p', '2222', 'root@h', '-L', '1:h:1'], { to: { user: 'root', host: 'h', port: 2222 }, jumps: [] }],
    [['ssh://h:2222', '-l', 'root'], { to: { user: 'root', host: 'h', port: 2222 } }],
    [['h', '-i', 'a', '-i', '/b'], { to: { user: me, host: 'h', port: 22 }, identityFiles: ['a', '/b'] }],
    [['-J', 'a@hop:2200', 'h'], { jumps: [{ user: 'a', host: 'hop', port: 2200 }] }],
  ])('%j is read', async (words, expected) => {
    expect(await without(() => routeOf(parse(words), me, never))).toMatchObject(expected)
  })

  test.each([[['-4', 'h']], [['-F', 'f', 'h']], [['-o', 'Compression=yes', 'h']]])('%j is refused', async (words) => {
    const refused = await faultOf(without(() => routeOf(parse(words), me, never)))
    expect([refused.detail.code, refused.message]).toEqual([
      'BAD_ADDRESS',
      expect.stringContaining('no ssh is installed'),
    ])
  })
})

test('attack 315: with -6 nobody is reached by IPv4', async () => {
  const [host, user] = [keyPair(), keyPair()]
  const server = await startSshServer({
    home: empty,
    user: 'renter',
    hostKey: host.private,
    authorizedKey: user.public,
  })
  const trust = { knownHostsFiles: [], ownKnownHostsFile: join(empty, 'known_hosts'), onFirstUse: () => true }
  const open = (onlyIpVersion: 4 | 6) => {
    const to = { user: 'renter', host: 'localhost', port: server.port }
    return openSession(to, { ...trust, auth: { privateKey: user.private }, onlyIpVersion }, never)
  }
  try {
    expect((await faultOf(open(6))).detail.code).toBe('BOX_UNREACHABLE')
    const session = await open(4)
    session.close()
  } finally {
    await server.close()
  }
})
