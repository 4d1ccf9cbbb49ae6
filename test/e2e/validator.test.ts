import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { toHex } from '../../src/core/bytes/hex.ts'
import { loadSigner } from '../../src/drivers/system/loadSigner.ts'
import { systemRandomness } from '../../src/drivers/system/systemRandomness.ts'
import { embeddedFolder } from '../support/embeddedFolder.ts'
import { eventually } from '../support/eventually.ts'
import { freePort } from '../support/freePort.ts'
import { LeasedBox } from '../support/leaseCrash.ts'
import { whyNoOpenSsh } from '../support/openSshServer.ts'

const program = fileURLToPath(new URL('../../dist/main/touchstone.js', import.meta.url))
const execute = promisify(execFile)

let folder = ''
let stores: { readonly folder: string; end(): void }[] = []
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'touchstone-validator-'))
  stores = [await embeddedFolder(), await embeddedFolder(), await embeddedFolder()]
})
const started: ChildProcess[] = []
afterAll(() => {
  // A test that failed on the way has left its validator.
  for (const child of started) child.kill('SIGKILL')
  for (const store of stores) store.end()
  rmSync(folder, { recursive: true, force: true })
})

const write = (name: string, text: string): string => {
  const path = join(folder, name)
  writeFileSync(path, text)
  return path
}
const env = () => ({ ...process.env, TOUCHSTONE_HOME: join(folder, 'home') })

/** Exit code and both outputs. */
async function touchstone(...args: string[]): Promise<{ code: number; out: string; err: string }> {
  try {
    const { stdout, stderr } = await execute(process.execPath, [program, 'validator', ...args], { env: env() })
    return { code: 0, out: stdout, err: stderr }
  } catch (error) {
    const { code, stdout, stderr } = error as { code: number; stdout: string; stderr: string }
    return { code, out: stdout, err: stderr }
  }
}

interface Line {
  readonly msg: string
  readonly port?: number
}

/** Log lines of a running validator. */
function start(config: string): { child: ChildProcess; until(message: string): Promise<Line> } {
  const child = spawn(process.execPath, [program, 'validator', '--config', config], { env: env(), stdio: 'pipe' })
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
  const until = async (message: string): Promise<Line> => {
    for (;;) {
      const found = lines.find(({ msg }) => msg === message)
      if (found) return found
      await new Promise<void>((resolve) => {
        wake = resolve
      })
    }
  }
  return { child, until }
}

describe('touchstone validator', () => {
  test('verifies this machine, answers, stops in order, and its backup restores elsewhere', {
    timeout: 60_000,
  }, async () => {
    const port = await freePort()
    const settings = (store: string) => `store: embedded:${store}
preset: tiny
devices: cpu
boxes: [{ id: me, address: local, provider: alice, claim: H100 SXM }]
rounds: { maxDelaySeconds: 0, probes: false }
api: { port: ${port} }
`
    const config = write('first.yaml', settings(stores[0]!.folder))
    const { child, until } = start(config)
    await until('box is not as claimed')
    const { out } = await touchstone('status', '--config', config)
    expect(out).toMatch(/boxes +1 \(1 claim-unmet\)\nclaims +1 different\n/)
    const put = (id: string) =>
      touchstone('call', 'PUT', `/v1/boxes/${id}`, '{"address":"local","provider":"bob"}', '--config', config)
    expect(await put('me')).toMatchObject({ code: 0, out: '{"done":true}\n' })
    // Attack 93: a writer may not add this machine, unless its operator named the box.
    expect(await put('more')).toMatchObject({ code: 1, out: expect.stringContaining('OWN_MACHINE') })
    // The folder is the running validator's alone, so it makes the copy itself.
    const made = await touchstone('backup', 'unused.gz', '--json', '--config', config)
    const { file: backup } = JSON.parse(made.out) as { file: string }
    child.kill('SIGTERM')
    expect((await once(child, 'exit'))[0]).toBe(0)

    const other = write('second.yaml', settings(stores[1]!.folder))
    expect((await touchstone('restore', backup, '--config', other)).out).toMatch(/^\d+ rows restored\n$/)
  })

  test.skipIf(whyNoOpenSsh() !== null)(
    'a box behind NAT dials out to it and is verified through the tunnel; a stranger is turned away',
    { timeout: 90_000 },
    async () => {
      const [box, port, hubPort] = [new LeasedBox(), await freePort(), await freePort()]
      const self = toHex(loadSigner(env().TOUCHSTONE_HOME, 'validator', systemRandomness).publicKey)
      const config = write(
        'hub.yaml',
        `store: embedded:${stores[2]!.folder}
preset: tiny
devices: cpu
precisions: [int8]
memory: false
bind: false
leaseHub: 127.0.0.1:${hubPort}
rounds: { maxDelaySeconds: 0, probes: false, everyMinutes: 0.02 }
api: { port: ${port} }
`,
      )
      const { child, until } = start(config)
      try {
        await until('waiting for providers')
        await box.open(['--dial-out', `ws://127.0.0.1:${hubPort}/lease#${self}`])
        const { key } = box.provider!.find('dialled') as { key: string }
        await until('unknown provider refused')
        const entry = JSON.stringify({ address: `lease://hub#${key}`, provider: 'alice' })
        const put = await touchstone('call', 'PUT', '/v1/boxes/nat', entry, '--config', config)
        expect(put).toMatchObject({ code: 0 })
        await until('provider dialled in')
        await until('box verified')
        const { items } = (await (await fetch(`http://127.0.0.1:${port}/v1/boxes`)).json()) as { items: unknown[] }
        expect(items).toMatchObject([{ id: 'nat', status: 'verified' }])
        await eventually(() => box.provider!.find('opened') !== undefined && box.leasedKeys().length === 0)
      } finally {
        child.kill('SIGTERM')
        if (child.exitCode === null) await once(child, 'exit')
        await box.close()
      }
    },
  )

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
      code: 2,
      err: expect.stringContaining(`127.0.0.1:${port}: another program uses the port`),
    })
    expect(two).toMatchObject({ code: 2, err: expect.stringContaining('line 2: rownds: no such field') })
    expect(three).toMatchObject({ code: 2, err: expect.stringContaining('CONFIG_UNREADABLE') })
    taken.close()
  })
})
