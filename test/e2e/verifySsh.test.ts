import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, afterEach, describe, expect, test } from 'vitest'
import { decodeNpy, encodeNpy } from '../../src/drivers/workFiles/npy.ts'
import { fingerprintOfPair } from '../suites/sshBoxSuite.ts'
import { type CommandEnd, openCommandLine } from '../support/commandLine.ts'
import { eventually } from '../support/eventually.ts'
import { keyPair } from '../support/keyPair.ts'
import { LeasedBox } from '../support/leaseCrash.ts'
import { startOpenSsh, whyNoOpenSsh } from '../support/openSshServer.ts'
import { runNode } from '../support/processes.ts'
import { startSshServer, type TestSshServer } from '../support/sshServer.ts'

const program = fileURLToPath(new URL('../../dist/main/touchstone.js', import.meta.url))
const root = mkdtempSync(join(tmpdir(), 'touchstone-verify-ssh-'))
const home = join(root, 'home')
const [host, user] = [keyPair(), keyPair()]
const identity = join(root, 'id')
mkdirSync(home)
writeFileSync(identity, user.private, { mode: 0o600 })
const servers: TestSshServer[] = []
afterEach(() => Promise.all(servers.splice(0).map((server) => server.close())))
const env = { ...process.env, TOUCHSTONE_HOME: join(root, 'state'), SSH_AUTH_SOCK: '' }
const commands = openCommandLine(env)
afterAll(async () => {
  await commands.close()
  rmSync(root, { recursive: true, force: true })
})

const touchstone = (args: readonly string[]) => commands.run(args)
/** In a process of its own, which can be sent a signal and has to end. */
const alone = (args: readonly string[], whileRunning?: Parameters<typeof runNode>[2]) =>
  runNode([program, ...args], env, whileRunning)

const fast = [
  '--preset',
  'tiny',
  '--devices',
  'cpu',
  '--precisions',
  'int8',
  '--no-memory',
  '--no-bind',
  '--identity',
  identity,
]
const at = (server: TestSshServer): string => `ssh://${server.user}@127.0.0.1:${server.port}`

/** `touchstone work run` on a box that has the prover: the product, and a receipt that holds. */
async function worksOn(address: string): Promise<void> {
  const [a, b, product, receipt] = ['a.npy', 'b.npy', 'c.npy', 'receipt.json'].map((name) => join(root, name))
  writeFileSync(a!, encodeNpy({ type: 'i8', rows: 2, width: 2, bytes: Uint8Array.of(1, 2, 3, 4) }))
  writeFileSync(b!, encodeNpy({ type: 'i8', rows: 2, width: 2, bytes: Uint8Array.of(5, 6, 7, 8) }))
  const on = ['--on', address, '--identity', identity, '--out', product!, '--receipt', receipt!, '--json']
  const { status, stdout } = await touchstone(['work', 'run', 'matmul', a!, b!, ...on])
  // Attack 448: the result is somebody else's word.
  expect([status, JSON.parse(stdout)]).toMatchObject([
    4,
    { kind: 'matmul', operations: 16, doubts: ['RESULT_NOT_SHOWN'] },
  ])
  const { bytes } = decodeNpy(readFileSync(product!))
  expect([...new Int32Array(Uint8Array.from(bytes).buffer)]).toEqual([19, 22, 43, 50])
  expect((await touchstone(['check', receipt!])).status).toBe(0)
  // Attack 457: two keys of one box are one witness.
  expect((await touchstone(['work', 'run', 'matmul', a!, b!, ...on, '--replicas', '2'])).status).toBe(4)
  // Where every entry of it is proven it is not.
  expect((await touchstone(['work', 'run', 'matmul', a!, b!, ...on, '--method', 'sumcheck'])).status).toBe(0)
}

// Whole programs on a busy machine take their time.
describe('touchstone verify ssh://', { timeout: 90_000 }, () => {
  test('the real prover is genuine over an SSH server, its certificate checks, and it can work there too', async () => {
    const server = await startSshServer({ home, user: 'renter', hostKey: host.private, authorizedKey: user.public })
    servers.push(server)
    const out = join(root, 'certificate.json')
    // As a marketplace shows it, and pasted without quotes.
    const pasted = ['ssh', '-p', String(server.port), `${server.user}@127.0.0.1`, '-L', '8080:localhost:8080']
    const verified = await alone(['verify', ...pasted, ...fast, '--out', out, '--json'])
    expect(verified.err).toContain(fingerprintOfPair(host))
    expect(verified.code).toBe(0)
    const report = JSON.parse(verified.out)
    expect(report).toMatchObject({ judgement: { outcome: 'accepted' } })
    expect(report.roundTripSeconds).toBeGreaterThan(0)
    expect(readFileSync(join(root, 'state', 'known_hosts'), 'utf8')).toContain(`[127.0.0.1]:${server.port}`)
    expect((await touchstone(['check', out])).status).toBe(0)
    await worksOn(at(server))
    // The prover, kept for the next time, the key it signs work with, and nothing else.
    const releases = readdirSync(join(home, '.cache/touchstone'))
    expect(releases.map((id) => existsSync(join(home, '.cache/touchstone', id, 'manifest.json')))).toEqual([true])
    expect(readdirSync(join(home, '.local/share/touchstone'))).toEqual(['prover-1.key', 'prover.key'])
    expect(readdirSync(home).sort()).toEqual(['.cache', '.local'])
    for (const name of readdirSync(home)) rmSync(join(home, name), { recursive: true })
  })

  test('attack 95: a server that hangs up after the login ends the command, and so does SIGTERM', async () => {
    const drops = { home, user: 'renter', hostKey: host.private, authorizedKey: user.public, dropAfterLogin: true }
    const server = await startSshServer(drops)
    servers.push(server)
    const out = join(root, 'dropped.json')
    const ended = await alone(['verify', at(server), ...fast, '--out', out])
    expect(ended).toMatchObject({ code: 3, err: expect.stringContaining('BOX_CONNECTION_LOST') })
    // Without a word after the login instead: whoever waits for it can still be told to stop.
    const silent = await startSshServer({ ...drops, dropAfterLogin: false, silent: true })
    servers.push(silent)
    const stopped = await alone(['verify', at(silent), ...fast, '--out', out], async (err, kill) => {
      await eventually(() => err().includes('remembered once the login succeeds'))
      kill('SIGTERM')
    })
    expect(stopped.code).toBe(143)
    // A pipe instead of a key holds nothing up; instead of settings it holds up ssh alone.
    const pipe = join(root, 'pipe')
    execFileSync('mkfifo', [pipe])
    const key = await touchstone(['verify', at(silent), ...fast.slice(0, -1), pipe, '--out', out])
    expect(key).toMatchObject({ status: 2, stderr: expect.stringContaining('SSH_KEY_UNREADABLE') })
    const waiting = await alone(['verify', 'ssh', '-F', pipe, 'box', ...fast, '--out', out], async (err, kill) => {
      await eventually(() => err().includes('connecting'))
      kill('SIGINT')
    })
    expect(waiting.code).toBe(130)
  })

  test('attack 14: another host key than the one asked for is a fault, not a verdict', async () => {
    const server = await startSshServer({ home, user: 'renter', hostKey: host.private, authorizedKey: user.public })
    servers.push(server)
    const pinned = ['--host-key', fingerprintOfPair(keyPair())]
    const refused = await touchstone(['verify', at(server), ...fast, ...pinned, '--out', join(root, 'never.json')])
    expect(refused.status).toBe(3)
    expect(refused.stderr).toContain('HOST_KEY_CHANGED')
    expect(readdirSync(root)).not.toContain('never.json')
  })

  test('a prover that dies before its welcome is a fault that tells why, in its own words or its last ones', async () => {
    const common = { home, user: 'renter', hostKey: host.private, authorizedKey: user.public }
    const broken = { NODE_OPTIONS: '--require /nowhere/native.cjs' }
    servers.push(await startSshServer(common), await startSshServer({ ...common, env: broken }))
    const out = ['--no-keep', '--out', join(root, 'never.json')]
    const noCard = fast.map((word) => (word === 'cpu' ? 'cuda:63' : word))
    const [told, crashed] = await Promise.all([
      touchstone(['verify', at(servers[0]!), ...noCard, ...out]),
      touchstone(['verify', at(servers[1]!), ...fast, ...out]),
    ])
    expect([told.status, told.stdout]).toEqual([3, ''])
    // Whichever of these it is on the machine that runs this: no driver, no card, or not so many.
    expect(told.stderr).toMatch(
      /cannot go on, as it says: ".* \[(NO_GPU_DRIVER|NO_GPU|GPU_CALL_FAILED)\]" \[PROVER_FAULT\]\nnext: Fix/,
    )
    expect([crashed.status, crashed.stdout]).toEqual([3, ''])
    expect(crashed.stderr).toMatch(
      /ended with exit code 1 .*Cannot find module '\/nowhere.*\[PROVER_DID_NOT_START\]\nnext: Fix/,
    )
    expect(readdirSync(home)).toEqual([])
  })

  test('several devices are several in the report, and the exit code tells verdict, usage and fault apart', async () => {
    const server = await startSshServer({ home, user: 'renter', hostKey: host.private, authorizedKey: user.public })
    servers.push(server)
    const out = (name: string) => ['--out', join(root, name), '--json', '--no-keep']
    const two = fast.map((word) => (word === 'cpu' ? 'cpu,cpu' : word))
    const wrongKey = join(root, 'wrong')
    writeFileSync(wrongKey, keyPair().private, { mode: 0o600 })
    const stranger = fast.map((word) => (word === identity ? wrongKey : word))
    const [both, other, password, refused, closed] = await Promise.all([
      touchstone(['verify', at(server), ...two, ...out('two.json')]),
      touchstone(['verify', at(server), ...fast, '--claim', 'H100 SXM', '--no-address', ...out('claim.json')]),
      touchstone(['verify', 'ssh://renter:secret@127.0.0.1', ...fast, ...out('password.json')]),
      touchstone(['verify', at(server), ...stranger, ...out('stranger.json')]),
      touchstone(['verify', 'ssh://renter@127.0.0.1:1', ...fast, ...out('closed.json')]),
    ])
    expect([both.status, JSON.parse(both.stdout).judgement.devices.length]).toEqual([0, 2])
    // Where a box is stands in the certificate as the signer's word, without the account, unless it is not to.
    const place = async (name: string) =>
      JSON.parse((await touchstone(['check', join(root, name), '--json'])).stdout).address
    expect([await place('two.json'), await place('claim.json')]).toEqual([`ssh://127.0.0.1:${server.port}`, null])
    expect((await touchstone(['check', join(root, 'two.json')])).stdout).toMatch(
      /box +ssh:\/\/127\.0\.0\.1:\d+, as the signer/,
    )
    expect([other.status, JSON.parse(other.stdout).judgement.outcome]).toEqual([1, 'accepted'])
    const told = ({ status, stdout }: CommandEnd) => [status, JSON.parse(stdout).error.code]
    expect([password, refused, closed].map(told)).toEqual([
      [2, 'BAD_ADDRESS'],
      [2, 'SSH_AUTH_FAILED'],
      [3, 'BOX_UNREACHABLE'],
    ])
  })

  const missing = whyNoOpenSsh()
  test.skipIf(missing !== null)(
    'attack 34: over OpenSSH a box that vanishes in mid-run cleans up by itself',
    async () => {
      const authorizedKeys = user.public
      const server = await startOpenSsh({ folder: join(root, 'sshd'), home, hostKey: host.private, authorizedKeys })
      servers.push(server)
      const slow = [
        '--preset',
        'devnet',
        '--devices',
        'cpu',
        '--precisions',
        'int8',
        '--no-memory',
        '--no-bind',
        '--identity',
        identity,
        '--no-keep',
      ]
      const ended = await alone(['verify', at(server), ...slow, '--out', join(root, 'cut.json')], async (err) => {
        await eventually(() => err().includes('part 1'))
        server.cut()
      })
      expect([ended.code, ended.err]).toEqual([1, expect.anything()])
      await eventually(() => readdirSync(home).length === 0)
    },
  )

  test.skipIf(missing !== null)(
    'a provider gives a lease, the box is genuine, and the lease is over afterwards',
    async () => {
      const box = new LeasedBox()
      try {
        await box.open()
        const { port, key } = box.provider!.find('listening') as { port: number; key: string }
        const out = join(root, 'leased.json')
        const quick = fast.slice(0, fast.indexOf('--identity'))
        const target = `lease://127.0.0.1:${port}#${key}`
        const verified = await touchstone(['verify', target, ...quick, '--out', out, '--json'])
        expect([verified.status, verified.stderr]).toEqual([0, expect.anything()])
        expect(JSON.parse(verified.stdout).access).toMatchObject({
          confinement: 'shared account',
          hostKeyTrust: 'pinned',
        })
        expect(box.leasedKeys()).toEqual([])
        await eventually(() => box.openFolders().length === 0)
        expect(readdirSync(box.home)).toEqual([])
      } finally {
        await box.close()
      }
    },
  )
})
