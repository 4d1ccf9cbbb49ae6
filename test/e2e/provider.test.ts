import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { afterAll, afterEach, describe, expect, test } from 'vitest'
import type { Signer } from '../../src/core/bytes/ed25519.ts'
import { toHex } from '../../src/core/bytes/hex.ts'
import { askProvider } from '../../src/drivers/remote/leased/askProvider.ts'
import { openSshKey } from '../../src/drivers/remote/leased/openSshKey.ts'
import { systemRandomness } from '../../src/drivers/system/systemRandomness.ts'
import { dialWs, MESSAGES, wsChannel } from '../../src/drivers/system/wsChannel.ts'
import { openCommandLine } from '../support/commandLine.ts'
import { keyPair } from '../support/keyPair.ts'
import { OPEN_PROVIDER } from '../support/openProvider.ts'
import { testSigner } from '../support/testSigner.ts'
import { withOther } from '../support/withOther.ts'

const program = fileURLToPath(new URL('../../dist/main/touchstone.js', import.meta.url))
const root = mkdtempSync(join(tmpdir(), 'touchstone-provider-'))
const hostKey = join(root, 'host.pub')
writeFileSync(hostKey, keyPair().public)

const never = new AbortController().signal
const running: ChildProcess[] = []
afterEach(async () => {
  for (const child of running.splice(0))
    if (child.exitCode === null && child.signalCode === null) {
      child.kill('SIGKILL')
      await once(child, 'exit')
    }
})
const line = openCommandLine(process.env)
afterAll(async () => {
  await line.close()
  rmSync(root, { recursive: true, force: true })
})

function provider(home: string, ...more: string[]): ChildProcess {
  const files = ['--host-key-file', hostKey, '--authorized-keys', join(root, 'authorized_keys')]
  const env = { ...process.env, TOUCHSTONE_HOME: join(root, home) }
  const child = spawn(process.execPath, [program, 'provider', ...withOther([...OPEN_PROVIDER, ...files], more)], {
    env,
    stdio: 'pipe',
  })
  running.push(child)
  return child
}

interface Word {
  readonly event?: string
  readonly why?: string
  readonly port?: number
  readonly key?: string
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

/** All it said until it ended. */
async function eventsOf(child: ChildProcess): Promise<readonly Word[]> {
  const words: Word[] = []
  createInterface({ input: child.stdout! }).on('line', (text) => words.push(JSON.parse(text)))
  await once(child, 'close')
  return words
}

/** A command beside a provider, in its folder: what it prints as JSON. */
async function beside(home: string, ...words: string[]) {
  const { stdout } = await line.run(['provider', ...words, '--json'], { TOUCHSTONE_HOME: join(root, home) })
  return JSON.parse(stdout)
}

/** What the provider says to a request for a lease of this kind, which is given back at once unless it is kept. */
async function askFor(purpose: 'verify' | 'rent', { port, key }: Word, signer: Signer, isKept = false) {
  const channel = wsChannel(await dialWs(`ws://127.0.0.1:${port}`, MESSAGES, never))
  const sshKey = openSshKey(systemRandomness.bytes(32)).publicLine
  const id = toHex(systemRandomness.bytes(16))
  const request = { kind: 'request', to: key!, id, purpose, seconds: 60, sshKey, askedAtMs: Date.now() } as const
  const answer = await askProvider({ channel, key: key! }, request, signer, never)
  if (!isKept)
    await askProvider({ channel, key: key! }, { kind: 'release', to: key!, id, askedAtMs: Date.now() }, signer, never)
  channel.close()
  return answer
}

describe('touchstone provider', { timeout: 60_000 }, () => {
  test('a box that is not what it is sold as, or lacks what the network asks for, does not join, and is told why', async () => {
    const requirements = join(root, 'requirements.json')
    writeFileSync(requirements, JSON.stringify({ ramBytes: 1e15 }))
    const asked = ['--check', 'tiny', '--devices', 'cpu', '--claim', 'H100 SXM', '--requirements', requirements]
    const { error } = await firstWord(provider('sold', ...asked))
    expect(error).toMatchObject({
      code: 'MAY_NOT_JOIN',
      message: expect.stringContaining('what --claim says was not shown: different'),
    })
    expect(error?.message).toMatch(/RAM: has .*, needs 1.00 PB/)
  })

  test('a port that another program uses is told before anything is checked', async () => {
    const other = createServer().listen(0, '127.0.0.1')
    await once(other, 'listening')
    const { port } = other.address() as AddressInfo
    const { error } = await firstWord(provider('busy', '--listen', `127.0.0.1:${port}`))
    expect(error).toMatchObject({
      code: 'CANNOT_LISTEN',
      message: expect.stringContaining('another program uses the port'),
    })
    other.close()
  })

  test('attack 87: a key that may verify may not rent, and the other way round', async () => {
    const [validator, buyer, stranger] = [1, 2, 3].map((seed) => testSigner(seed))
    const keys = ['--allow', toHex(validator!.publicKey), '--allow-rent', toHex(buyer!.publicKey)]
    const word = await firstWord(provider('renting', ...keys))
    const refused = { kind: 'refused', code: 'NOT_ALLOWED' }
    expect(await askFor('verify', word, validator!)).toMatchObject({ kind: 'granted' })
    expect(await askFor('rent', word, validator!)).toMatchObject(refused)
    expect(await askFor('rent', word, buyer!)).toMatchObject({ kind: 'granted' })
    expect(await askFor('verify', word, buyer!)).toMatchObject(refused)
    const open = await firstWord(provider('open'))
    expect(await askFor('verify', open, stranger!)).toMatchObject({ kind: 'granted' })
    expect(await askFor('rent', open, stranger!)).toMatchObject(refused)
  })

  test('attack 87: a buyer is let in and kept out while the provider runs, and who has the box keeps it until it is revoked', async () => {
    const [buyer, other] = [4, 5].map((seed) => testSigner(seed))
    const [buyerKey, otherKey] = [toHex(buyer!.publicKey), toHex(other!.publicKey)]
    const child = provider('moving')
    const events = eventsOf(child)
    const word = await firstWord(child)
    const [granted, refused, busy] = [{ kind: 'granted' }, { code: 'NOT_ALLOWED' }, { kind: 'busy' }]
    expect(await askFor('rent', word, buyer!)).toMatchObject(refused)
    expect(await beside('moving', 'allow', buyerKey)).toMatchObject({ keys: [buyerKey], may: ['verify', 'rent'] })
    expect(await askFor('rent', word, buyer!, true)).toMatchObject(granted)
    // Neither word touches the lease that is open.
    const list = join(root, 'buyers.txt')
    writeFileSync(list, `# a buyer\n\n${otherKey.toUpperCase()}  # in the other hall\n`)
    await beside('moving', 'allow', '--file', list, '--to', 'rent')
    expect(await beside('moving', 'deny', buyerKey)).toMatchObject({ may: [], lease: { holder: buyerKey } })
    expect(await beside('moving', 'status')).toMatchObject({
      state: 'leased',
      keys: [
        { key: 'anyone', may: ['verify'] },
        { key: otherKey, may: ['rent'] },
        { key: buyerKey, may: [] },
      ],
    })
    expect(await askFor('rent', word, other!)).toMatchObject(busy)
    // Kept out before: nobody is told that this holder may ask again.
    expect(await beside('moving', 'revoke')).toMatchObject({ revoked: { holder: buyerKey }, keptOut: true })
    expect(await askFor('rent', word, buyer!)).toMatchObject(refused)
    expect(await askFor('verify', word, buyer!)).toMatchObject(refused)
    expect(await askFor('rent', word, other!, true)).toMatchObject(granted)
    expect(await beside('moving', 'revoke', '--deny')).toMatchObject({ revoked: { holder: otherKey }, keptOut: true })
    expect(await askFor('rent', word, other!)).toMatchObject(refused)
    expect(await beside('moving', 'allow', `${otherKey}0`)).toMatchObject({ error: { code: 'USAGE' } })
    await beside('moving', 'allow', otherKey)
    expect(await askFor('rent', word, other!)).toMatchObject(granted)
    expect(await askFor('rent', word, other!, true)).toMatchObject(granted)
    // Its end ends the lease too, and the log says why each one ended.
    expect(await beside('moving', 'stop')).toMatchObject({ stopped: true, lease: { holder: otherKey } })
    expect(await once(child, 'close')).toEqual([0, null])
    expect((await events).filter(({ event }) => event === 'closed').map(({ why }) => why)).toEqual([
      'revoked by the owner',
      'revoked by the owner',
      'given back',
      'the provider stops',
    ])
    expect(await beside('moving', 'stop')).toMatchObject({ error: { code: 'PROVIDER_NOT_RUNNING' } })
    // What was said outlasts it.
    const again = await firstWord(provider('moving'))
    expect(await askFor('verify', again, buyer!)).toMatchObject(refused)
    expect(await askFor('rent', again, other!)).toMatchObject(granted)
  })

  test('one that npx started ends with it: npm ends the shell between, and nobody else would', async () => {
    const files = ['--host-key-file', hostKey, '--authorized-keys', join(root, 'authorized_keys')]
    const words = [process.execPath, program, 'provider', ...OPEN_PROVIDER, ...files]
      .map((word) => `'${word}'`)
      .join(' ')
    const env = { ...process.env, TOUCHSTONE_HOME: join(root, 'npx'), npm_lifecycle_event: 'npx' }
    const shell = spawn('sh', ['-c', `${words}; true`], { env, stdio: 'pipe' })
    running.push(shell)
    const events = eventsOf(shell)
    expect(await firstWord(shell)).toMatchObject({ event: 'listening' })
    shell.kill('SIGTERM')
    // Its output ends with the provider, which outlived the shell.
    expect((await events).at(-1)).toMatchObject({ event: 'listening' })
    expect(await beside('npx', 'status')).toMatchObject({ error: { code: 'PROVIDER_NOT_RUNNING' } })
  })

  test('a second one in the same folder refuses, as does a claim without a card; after kill -9 of the first the folder is free', async () => {
    const first = provider('home')
    expect(await firstWord(first)).toMatchObject({ event: 'listening' })
    const second = await firstWord(provider('home'))
    expect(second).toMatchObject({ error: { code: 'PROVIDER_RUNNING' } })
    expect(await firstWord(provider('another'))).toMatchObject({ event: 'listening' })
    const typo = await firstWord(provider('third', '--check', 'tiny', '--claim', '8x H10'))
    expect(typo).toMatchObject({ error: { code: 'BAD_CLAIM', nextStep: expect.stringContaining('"8x H100"') } })
    first.kill('SIGKILL')
    await once(first, 'exit')
    expect(await firstWord(provider('home'))).toMatchObject({ event: 'listening' })
  })
})
