import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir, userInfo } from 'node:os'
import { join } from 'node:path'
import ssh2 from 'ssh2'
import { afterAll, afterEach, describe, expect, test } from 'vitest'
import { faultOf } from '../../../../test/suites/sshBoxSuite.ts'
import { keyPair } from '../../../../test/support/keyPair.ts'
import { startOpenSsh, whyNoOpenSsh } from '../../../../test/support/openSshServer.ts'
import { startSshServer, type TestSshServer } from '../../../../test/support/sshServer.ts'
import { dialOf } from './dialRoute.ts'
import { routeOf } from './sshRoute.ts'
import { openSession, type SessionOptions } from './sshSession.ts'
import { parseSshTarget } from './sshTarget.ts'
import { runOnBox } from './startScript.ts'

const never = new AbortController().signal
const root = mkdtempSync(join(tmpdir(), 'touchstone-route-'))
const [host, user] = [keyPair(), keyPair()]
const servers: TestSshServer[] = []
afterEach(() => Promise.all(servers.splice(0).map((server) => server.close())))
afterAll(() => rmSync(root, { recursive: true, force: true }))

const common = {
  knownHostsFiles: [],
  ownKnownHostsFile: join(root, 'known_hosts'),
  onFirstUse: () => true,
}
const said = async (address: ReturnType<typeof startOfSession>) => {
  const session = await address
  const argv = ['sh', '-c', 'echo here']
  const { out } = await runOnBox(session, { argv, during: 'a test', limitMs: 30_000 }, never)
  return { session, out: out.trim() }
}
const startOfSession = (port: number, auth: SessionOptions['auth'], name = 'renter') =>
  openSession({ user: name, host: '127.0.0.1', port }, { ...common, auth }, never)

describe.skipIf(whyNoOpenSsh() !== null)('the settings of ssh hold, and a real sshd is reached through another', () => {
  const identity = join(root, 'id')
  const settings = join(root, 'config')
  writeFileSync(identity, user.private, { mode: 0o600 })
  const me = userInfo().username
  const start = async (name: string) => {
    const folder = join(root, name)
    mkdirSync(folder)
    const server = await startOpenSsh({ folder, home: root, hostKey: host.private, authorizedKeys: user.public })
    servers.push(server)
    return server
  }
  const deps = {
    routeOf: (hop: Parameters<typeof routeOf>[0]) => routeOf(hop, me, never),
    optionsFor: () => ({ ...common, auth: { keyFiles: [{ path: identity }] } }),
  }

  test.each(['ProxyJump hop', 'ProxyCommand ssh -F CONFIG -W %h:%p hop'])('%s', async (way) => {
    const name = way.slice(0, 9)
    const [box, hop] = [await start(`${name}-box`), await start(`${name}-hop`)]
    const login = `  HostName 127.0.0.1\n  User ${me}\n  IdentityFile ${identity}\n  IdentitiesOnly yes\n`
    const trust = `  StrictHostKeyChecking no\n  UserKnownHostsFile ${join(root, 'hop_known')}\n`
    const text = `Host box\n${login}  Port ${box.port}\n  ${way}\nHost hop\n${login}${trust}  Port ${hop.port}\n`
    writeFileSync(settings, text.replace('CONFIG', settings), { mode: 0o600 })
    const route = await routeOf(parseSshTarget(`ssh -F ${settings} box`), 'nobody', never)
    expect(route.to).toEqual({ user: me, host: '127.0.0.1', port: box.port })
    expect(route.identityFiles).toEqual([identity])
    const dial = dialOf(route, deps)!
    const { session, out } = await said(openSession(route.to, { ...deps.optionsFor(), dial }, never))
    expect(out).toBe('here')
    // There is no other way: with the hop goes the box.
    hop.cut()
    await session.gone
  })

  test('attack 251: a host that is known under another name (HostKeyAlias) is not a new one', async () => {
    const box = await start('aliased')
    const [known, own] = [join(root, 'aliased_known'), join(root, 'aliased_own')]
    const login = `  HostName 127.0.0.1\n  Port ${box.port}\n  User ${me}\n  UserKnownHostsFile ${known}\n`
    writeFileSync(settings, `Host box\n${login}  HostKeyAlias the-box\n`, { mode: 0o600 })
    const open = async (key: string) => {
      writeFileSync(known, `the-box ${key}\n`)
      const route = await routeOf(parseSshTarget(`ssh -F ${settings} box`), 'nobody', never)
      const { knownHostsFiles, knownAs } = route
      const options = {
        ...common,
        auth: { keyFiles: [{ path: identity }] },
        knownHostsFiles,
        knownAs,
        ownKnownHostsFile: own,
      }
      return await openSession(route.to, options, never)
    }
    const stranger = await faultOf(open(keyPair().public))
    expect(stranger.detail.code).toBe('HOST_KEY_CHANGED')
    const session = await open(host.public)
    session.close()
    expect(session.hostKey.trust).toBe('known')
  })

  test('attack 269: a host is not a new one because the path of known hosts has a blank in it', async () => {
    const box = await start('blank')
    const folder = join(root, 'John  van Smith')
    mkdirSync(folder)
    const known = join(folder, 'known_hosts')
    writeFileSync(known, `[127.0.0.1]:${box.port} ${keyPair().public}\n`)
    const login = `  HostName 127.0.0.1\n  Port ${box.port}\n  User ${me}\n`
    const files = `  UserKnownHostsFile ${join(root, 'none_there')} "${known}" ${join(root, 'none_there_either')}\n`
    writeFileSync(settings, `Host box\n${login}${files}`, { mode: 0o600 })
    const { to, knownHostsFiles } = await routeOf(parseSshTarget(`ssh -F ${settings} box`), 'nobody', never)
    const options = { ...common, auth: { keyFiles: [{ path: identity }] }, knownHostsFiles }
    const own = join(root, 'blank_own')
    const stranger = await faultOf(openSession(to, { ...options, ownKnownHostsFile: own }, never))
    expect(stranger.detail.code).toBe('HOST_KEY_CHANGED')
  })

  test('what ssh does not understand is said in its own words', async () => {
    writeFileSync(settings, 'Host box\n  Nonsense\u0007 yes\n', { mode: 0o600 })
    const refused = await faultOf(routeOf(parseSshTarget(`ssh -F ${settings} box`), me, never))
    expect(refused.detail.code).toBe('SSH_SETTINGS_UNREADABLE')
    expect(refused.message).toMatch(/it said: "[\x20-\x7e]*Bad configuration option/)
  })
})

describe('whoever sits before a terminal is asked', () => {
  const open = async (more: object) => {
    const server = await startSshServer({ home: root, user: 'renter', hostKey: host.private, ...more })
    servers.push(server)
    return server
  }
  /** Somebody who types these, and what they were asked. */
  const typing = (...answers: string[]) => {
    const questions: string[] = []
    const ask = async (question: string) => {
      questions.push(question)
      return answers.shift() ?? null
    }
    return { ask, questions }
  }

  test('for a password, again where it was wrong', async () => {
    const { port } = await open({ password: 'right' })
    const { ask, questions } = typing('wrong', 'right')
    const { session, out } = await said(startOfSession(port, { ask }))
    session.close()
    expect([out, questions]).toEqual(['here', ['password of renter: ', 'password of renter: ']])
  })

  test('for the passphrase of a key, before any password', async () => {
    const { port } = await open({ authorizedKey: user.public })
    const locked = join(root, 'locked')
    const pair = ssh2.utils.generateKeyPairSync('ed25519', { passphrase: 'open', cipher: 'aes256-ctr', rounds: 1 })
    writeFileSync(locked, pair.private, { mode: 0o600 })
    const { ask, questions } = typing('open')
    const keyFiles = [{ path: locked, optional: true }]
    const refused = await faultOf(startOfSession(port, { keyFiles, ask }))
    expect(refused.message).toContain(`tried ${locked}`)
    // This server takes no password, so nobody is asked for one.
    expect(questions).toEqual([`passphrase of ${locked}: `])
    expect(readFileSync(locked, 'utf8')).toContain('OPENSSH PRIVATE KEY')
  })

  test('nobody is asked twice who has nothing to say, and a refusal tells what the box said, made harmless', async () => {
    const banner = 'Please log in as "ubuntu"\u001b[2J\r\nnot as root.\r\n'
    const { port } = await open({ password: 'right', banner })
    const { ask, questions } = typing()
    const refused = await faultOf(startOfSession(port, { ask }))
    expect(questions).toHaveLength(1)
    expect(refused.detail.code).toBe('SSH_AUTH_FAILED')
    expect(refused.message).toMatch(
      /for want of a key or password; it said: "Please log in as 'ubuntu'[^"]*not as root\."$/,
    )
    expect(refused.message).toMatch(/^[\x20-\x7e]*$/)
  })
})
