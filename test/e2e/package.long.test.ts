import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { installPackage } from '../support/installPackage.ts'
import { keyPair } from '../support/keyPair.ts'
import { pathWithoutNode } from '../support/pathWithoutNode.ts'
import { startSshServer } from '../support/sshServer.ts'

const folder = mkdtempSync(join(tmpdir(), 'touchstone-package-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

test('the package in an empty folder verifies a box that has no Node', async () => {
  const { program, home } = installPackage(folder)
  const [host, user] = [keyPair(), keyPair()]
  const box = join(folder, 'box')
  mkdirSync(box)
  writeFileSync(join(folder, 'id'), user.private, { mode: 0o600 })
  const env = { PATH: pathWithoutNode(join(folder, 'bin')) }
  const login = { home: box, user: 'renter', hostKey: host.private, authorizedKey: user.public, env }
  const server = await startSshServer(login)
  const run = async () => {
    const parts = ['--preset', 'tiny', '--devices', 'cpu', '--precisions', 'int8', '--no-memory', '--no-bind']
    const to = [`ssh://renter@127.0.0.1:${server.port}`, '--identity', 'id', '--out', 'ssh.json', '--json']
    const child = spawn(process.execPath, [program, 'verify', ...to, ...parts], {
      cwd: folder,
      env: { ...env, TOUCHSTONE_HOME: home, HOME: home },
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    const chunks: Buffer[] = []
    child.stdout.on('data', (chunk: Buffer) => chunks.push(chunk))
    const [code] = await once(child, 'close')
    return { code, report: JSON.parse(Buffer.concat(chunks).toString()) }
  }
  try {
    const first = await run()
    expect(first).toMatchObject({
      code: 0,
      report: { verdict: 'genuine', access: { node: 'carried by the release' } },
    })
    const uploaded = Number(first.report.access.uploadedBytes)
    console.info(`a prover with its Node: ${(uploaded / 1e6).toFixed(1)} MB on the way`)
    expect(uploaded).toBeLessThan(60_000_000)
    expect(await run()).toMatchObject({ code: 0, report: { access: { uploadedBytes: '0' } } })
  } finally {
    await server.close()
  }
})
