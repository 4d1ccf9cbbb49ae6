import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { afterAll, afterEach, describe, expect, test } from 'vitest'
import { keyPair } from '../support/keyPair.ts'

const program = fileURLToPath(new URL('../../dist/main/touchstone.js', import.meta.url))
const root = mkdtempSync(join(tmpdir(), 'touchstone-provider-'))
const hostKey = join(root, 'host.pub')
writeFileSync(hostKey, keyPair().public)

const running: ChildProcess[] = []
afterEach(async () => {
  for (const child of running.splice(0))
    if (child.exitCode === null && child.signalCode === null) {
      child.kill('SIGKILL')
      await once(child, 'exit')
    }
})
afterAll(() => rmSync(root, { recursive: true, force: true }))

function provider(home: string, ...more: string[]): ChildProcess {
  const flags = ['--json', '--check', 'none', '--allow', 'anyone', '--listen', '127.0.0.1:0', '--confinement', 'shared']
  const files = ['--host-key-file', hostKey, '--authorized-keys', join(root, 'authorized_keys')]
  const env = { ...process.env, TOUCHSTONE_HOME: join(root, home) }
  const child = spawn(process.execPath, [program, 'provider', ...flags, ...files, ...more], { env, stdio: 'pipe' })
  running.push(child)
  return child
}

interface Word {
  readonly event?: string
  readonly error?: { readonly code: string; readonly message: string }
}

/** Its first event, or why it ended. */
async function firstWord(child: ChildProcess): Promise<Word> {
  let err = ''
  child.stderr!.on('data', (chunk: Buffer) => {
    err += chunk.toString()
  })
  const spoke = once(createInterface({ input: child.stdout! }), 'line').then(([line]) => JSON.parse(line))
  const ended = once(child, 'close').then(([code]) => ({ code, err }))
  return await Promise.race([spoke, ended])
}

describe('touchstone provider', { timeout: 60_000 }, () => {
  test('a box that is not what it is sold as, or lacks what the network asks for, does not join, and is told why', async () => {
    const requirements = join(root, 'requirements.json')
    writeFileSync(requirements, JSON.stringify({ ramBytes: 1e15 }))
    const asked = ['--check', 'tiny', '--devices', 'cpu', '--claim', 'H100 SXM', '--requirements', requirements]
    const { error } = await firstWord(provider('sold', ...asked))
    expect(error).toMatchObject({ code: 'MAY_NOT_JOIN', message: expect.stringContaining('claim: different') })
    expect(error?.message).toMatch(/RAM: has .*, needs 1.00 PB/)
  })

  test('a second one in the same folder refuses, as does a claim without a card; after kill -9 of the first the folder is free', async () => {
    const first = provider('home')
    expect(await firstWord(first)).toMatchObject({ event: 'listening' })
    const second = await firstWord(provider('home'))
    expect(second).toMatchObject({ error: { code: 'PROVIDER_RUNNING' } })
    expect(await firstWord(provider('another'))).toMatchObject({ event: 'listening' })
    const typo = await firstWord(provider('third', '--claim', '8x H10'))
    expect(typo).toMatchObject({ error: { code: 'BAD_CLAIM', nextStep: expect.stringContaining('"8x H100"') } })
    first.kill('SIGKILL')
    await once(first, 'exit')
    expect(await firstWord(provider('home'))).toMatchObject({ event: 'listening' })
  })
})
