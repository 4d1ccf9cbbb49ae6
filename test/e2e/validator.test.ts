import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { toHex } from '../../src/core/bytes/hex.ts'
import { loadSigner } from '../../src/drivers/system/loadSigner.ts'
import { systemRandomness } from '../../src/drivers/system/systemRandomness.ts'
import { openCommandLine } from '../support/commandLine.ts'
import { embeddedFolder } from '../support/embeddedFolder.ts'
import { eventually } from '../support/eventually.ts'
import { freePort } from '../support/freePort.ts'
import { commandsOn } from '../support/guide.ts'
import { LeasedBox } from '../support/leaseCrash.ts'
import { whyNoOpenSsh } from '../support/openSshServer.ts'
import { readUnit } from '../support/unitFile.ts'

const program = fileURLToPath(new URL('../../dist/main/touchstone.js', import.meta.url))

const folder = mkdtempSync(join(tmpdir(), 'touchstone-validator-'))
const env = { ...process.env, TOUCHSTONE_HOME: join(folder, 'home') }
const commands = openCommandLine(env)
const touchstone = (...args: string[]) => commands.run(['validator', ...args])
const stores: { end(): void }[] = []
const started: ChildProcess[] = []
afterAll(async () => {
  // A test that failed on the way has left its validator.
  for (const child of started) child.kill('SIGKILL')
  await commands.close()
  for (const store of stores) store.end()
  rmSync(folder, { recursive: true, force: true })
})

const write = (name: string, text: string): string => {
  const path = join(folder, name)
  writeFileSync(path, text)
  return path
}

interface Line {
  readonly msg: string
  readonly port?: number
  readonly box?: string
}

const unit = readUnit('touchstone-validator.service')
// Those of its ledger are run in ledger.test.ts.
const guide = commandsOn('docs/guides/operator.md').filter(([name]) => name === 'validator')

/** Log lines of a running validator, which is started as its unit starts it, but for the places of files. */
function start(config: string) {
  const words = unit.command.slice(unit.command.indexOf('touchstone') + 1)
  const args = words.map((word) => (word === '/etc/touchstone/validator.yaml' ? config : word))
  const child = spawn(process.execPath, [program, ...args], { env, stdio: 'pipe' })
  started.push(child)
  const lines: Line[] = []
  let rest = ''
  let wake = () => {}
  child.stdout.on('data', (chunk: Buffer) => {
    const pieces = (rest + chunk.toString('utf8')).split('\n')
    rest = pieces.pop()!
    lines.push(...pieces.map((piece) => JSON.parse(piece) as Line))
    wake()
  })
  /** The first line that says so, of that box where one is named. */
  const until = async (message: string, of?: string): Promise<Line> => {
    for (;;) {
      const found = lines.find(({ msg, box }) => msg === message && (of === undefined || box === of))
      if (found) return found
      await new Promise<void>((resolve) => {
        wake = resolve
      })
    }
  }
  return { child, until, lines }
}

describe('touchstone validator', { timeout: 90_000 }, () => {
  let [port, hubPort, config] = [0, 0, '']
  let running: ReturnType<typeof start>
  const configured = async (name: string): Promise<string> => {
    const store = await embeddedFolder()
    stores.push(store)
    return write(
      name,
      `store: embedded:${store.folder}
preset: tiny
devices: cpu
boxes: [{ id: me, address: local, provider: alice, claim: H100 SXM }]
rounds: { maxDelaySeconds: 0, probes: false }
ledger: { kind: file, folder: ./published }
leaseHub: 127.0.0.1:${hubPort}
api: { port: ${port} }
`,
    )
  }
  /** A command of the guide with the places of this test, and a box that nobody can reach and that waits to be dialled. */
  const typedHere = (words: readonly string[], other = ''): string[] =>
    words.map((word) =>
      word
        .replace(/^validator\.yaml$/, config)
        .replace(/^other\.yaml$/, other)
        .replace(/^fleet\.gz$/, join(folder, 'copies', 'fleet.gz'))
        .replace('root@203.0.113.7', `lease://hub#${'ab'.repeat(32)}`)
        // A run of a box that waits to be dialled would be waited for at the end.
        .replace('/box-2/verify', '/nat/verify'),
    )
  beforeAll(async () => {
    ;[port, hubPort] = [await freePort(), await freePort()]
    config = await configured('first.yaml')
    running = start(config)
    await running.until('run started', 'me')
  })

  test('its guide starts it as its unit does; boxes are added and taken out as it shows', async () => {
    const [begin, , , ...more] = guide
    expect(begin).toEqual(unit.command.slice(-3).map((word) => word.replace('/etc/touchstone/', '')))
    const names = more.map(([, name, method]) => (name === 'call' ? method : name))
    expect(guide[2]![1]).toBe('stop')
    expect(names).toEqual(['PUT', 'POST', 'DELETE', 'backup', 'restore'])
    const mistyped = await touchstone('call', 'PSOT', '/v1/boxes/me/verify', '--config', config)
    expect(mistyped).toMatchObject({ status: 2, stderr: expect.stringContaining('use GET, PUT, POST, DELETE') })
    for (const words of [more[0]!, more[2]!])
      expect(await commands.run(typedHere(words))).toMatchObject({ status: 0, stdout: '{"done":true}\n' })
  })

  test.skipIf(whyNoOpenSsh() !== null)(
    'a box behind NAT dials out to it and is verified through the tunnel when asked for; a stranger is turned away',
    async () => {
      const box = new LeasedBox()
      const self = toHex(loadSigner(env.TOUCHSTONE_HOME, 'validator', systemRandomness).publicKey)
      try {
        await running.until('waiting for providers')
        await box.open(['--dial-out', `ws://127.0.0.1:${hubPort}/lease#${self}`])
        const { key } = box.provider!.find('dialled') as { key: string }
        await running.until('unknown provider refused')
        // Rented: only its cards are asked for, not what the rest of this machine can do.
        const entry = JSON.stringify({ address: `lease://hub#${key}`, provider: 'alice', allocated: true })
        const call = async (...args: string[]) =>
          expect(await touchstone('call', ...args, '--config', config)).toMatchObject({ status: 0 })
        await call('PUT', '/v1/boxes/nat', entry)
        await running.until('provider dialled in')
        expect(await commands.run(typedHere(guide[4]!))).toMatchObject({ status: 0 })
        await running.until('box verified', 'nat')
        const history = await fetch(`http://127.0.0.1:${port}/v1/boxes/nat/history`)
        expect(await history.json()).toMatchObject({ items: [{ kind: 'light', reason: 'asked', outcome: 'accepted' }] })
        await eventually(() => box.provider!.find('opened') !== undefined && box.leasedKeys().length === 0)
        await call('DELETE', '/v1/boxes/nat')
      } finally {
        await box.close()
      }
    },
  )

  test('verifies this machine and answers', async () => {
    await running.until('box is not as claimed')
    const { stdout } = await commands.run(typedHere(guide[1]!))
    expect(stdout).toMatch(/boxes +1 \(1 claim-unmet\)\nclaims +1 different\n/)
    expect(stdout).toMatch(
      /\nBOX +STATE +MODEL +SCORE +REASON\nme +claim-unmet +no GPU \(CPU only\) +\d+ +claim different\n$/,
    )
    const { stdout: told } = await touchstone('status', '--json', '--status', 'claim-unmet', '--config', config)
    expect(JSON.parse(told)).toMatchObject({ boxes: 1, fleet: [{ id: 'me', reason: 'claim different' }] })
    const none = await touchstone('status', '--status', 'failed', '--config', config)
    expect(none.stdout).toMatch(/\n\nno such box\n$/)
    // What happened to one box is found by one field.
    expect(running.lines.filter(({ box }) => box === 'me').map(({ msg }) => msg)).toEqual([
      'run started',
      'box is not as claimed',
    ])
    const put = (id: string) =>
      touchstone('call', 'PUT', `/v1/boxes/${id}`, '{"address":"local","provider":"bob"}', '--config', config)
    expect(await put('me')).toMatchObject({ status: 0, stdout: '{"done":true}\n' })
    const served = await (await fetch(`http://127.0.0.1:${port}/openapi.json`)).json()
    expect(served).toEqual(JSON.parse(readFileSync(new URL('../../docs/spec/openapi.json', import.meta.url), 'utf8')))
    // Attack 93: a writer may not add this machine, unless its operator named the box.
    expect(await put('more')).toMatchObject({ status: 1, stdout: expect.stringContaining('OWN_MACHINE') })
  })

  test('its round is published, and the score of this machine is proven by it', async () => {
    await running.until('round published')
    const proof = `http://127.0.0.1:${port}/v1/boxes/me/proof`
    const checked = await commands.run(['ledger', 'check', proof, '--json'])
    expect(JSON.parse(checked.stdout)).toMatchObject({ problem: null, round: 1, scores: [{ box: 'me' }] })
    const [validator] = readdirSync(join(folder, 'published'))
    const file = join(folder, 'published', validator!, 'round-1.json')
    expect(await commands.run(['ledger', 'check', file])).toMatchObject({ status: 0 })
  })

  test('stops in order, and its backup restores elsewhere', async () => {
    // The folder is the running validator's alone, so it makes the copy itself.
    const backup = join(folder, 'copies', 'fleet.gz')
    const made = await commands.run([...typedHere(guide[6]!), '--json'])
    expect(JSON.parse(made.stdout)).toEqual({ file: backup, rows: expect.any(Number) })
    const blocked = await touchstone('backup', join(config, 'below-a-file.gz'), '--config', config)
    expect(blocked).toMatchObject({ status: 2, stderr: expect.stringContaining('[BACKUP_ELSEWHERE]') })
    const second = await touchstone('--config', config)
    expect(second).toMatchObject({ status: 2, stderr: expect.stringContaining('[VALIDATOR_RUNNING]') })
    expect((await commands.run(typedHere(guide[2]!))).stdout).toBe('stopped\n')
    expect(running.child.exitCode ?? (await once(running.child, 'exit'))[0]).toBe(0)
    const again = await commands.run(typedHere(guide[2]!))
    expect(again).toMatchObject({ status: 2, stderr: expect.stringContaining('[VALIDATOR_NOT_HERE]') })
    const other = await configured('second.yaml')
    const restored = await commands.run(typedHere(guide[7]!, other))
    expect(restored.stdout).toMatch(/^\d+ rows restored\n$/)
  })

  test('a port in use, a typo and a missing file each refuse the start with one sentence', async () => {
    const taken = createServer()
    await new Promise<void>((done) => taken.listen(0, '127.0.0.1', done))
    const { port } = taken.address() as { port: number }
    const used = write('used.yaml', `store: embedded:${join(folder, 'never')}\napi: { port: ${port} }\n`)
    const typo = write('typo.yaml', 'store: embedded:./x\nrownds: {}\n')
    const [one, two, three] = await Promise.all([
      touchstone('--config', used),
      touchstone('--config', typo),
      touchstone('--config', join(folder, 'none.yaml')),
    ])
    expect(one).toMatchObject({
      status: 2,
      stderr: expect.stringContaining(`127.0.0.1:${port}: another program uses the port`),
    })
    expect(two).toMatchObject({ status: 2, stderr: expect.stringContaining('line 2: rownds: no such field') })
    expect(three).toMatchObject({ status: 2, stderr: expect.stringContaining('CONFIG_UNREADABLE') })
    taken.close()
  })
})
