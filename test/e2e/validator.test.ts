import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { embeddedFolder } from '../support/embeddedFolder.ts'
import { freePort } from '../support/postgresServer.ts'

const program = fileURLToPath(new URL('../../dist/main/touchstone.js', import.meta.url))
const execute = promisify(execFile)

let folder = ''
let stores: { readonly folder: string; end(): void }[] = []
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'touchstone-validator-'))
  stores = [await embeddedFolder(), await embeddedFolder()]
})
afterAll(() => {
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
boxes: [{ id: me, address: local, provider: alice }]
rounds: { maxDelaySeconds: 0, probes: false }
api: { port: ${port} }
`
    const config = write('first.yaml', settings(stores[0]!.folder))
    const { child, until } = start(config)
    await until('box verified')
    const { out } = await touchstone('status', '--config', config)
    expect(out).toContain('1 verified')
    expect(
      await touchstone('call', 'PUT', '/v1/boxes/more', '{"address":"local","provider":"bob"}', '--config', config),
    ).toMatchObject({ code: 0, out: '{"done":true}\n' })
    child.kill('SIGTERM')
    expect((await once(child, 'exit'))[0]).toBe(0)

    const backup = join(folder, 'backup.gz')
    expect((await touchstone('backup', backup, '--config', config)).out).toMatch(/^\d+ rows in /)
    const other = write('second.yaml', settings(stores[1]!.folder))
    expect((await touchstone('restore', backup, '--config', other)).out).toMatch(/^\d+ rows restored\n$/)
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
      code: 2,
      err: expect.stringContaining(`127.0.0.1:${port}: another program uses the port`),
    })
    expect(two).toMatchObject({ code: 2, err: expect.stringContaining('line 2: rownds: no such field') })
    expect(three).toMatchObject({ code: 2, err: expect.stringContaining('CONFIG_UNREADABLE') })
    taken.close()
  })
})
