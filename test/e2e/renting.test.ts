import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { toHex } from '../../src/core/bytes/hex.ts'
import { sealEnvelope } from '../../src/core/certificate/envelope.ts'
import { loadSigner } from '../../src/drivers/system/loadSigner.ts'
import { lockFolder } from '../../src/drivers/system/lockFolder.ts'
import { systemRandomness } from '../../src/drivers/system/systemRandomness.ts'
import { stateFolder } from '../../src/drivers/system/xdgFolders.ts'
import { encodeNpy } from '../../src/drivers/workFiles/npy.ts'
import { openCommandLine } from '../support/commandLine.ts'
import { freePort } from '../support/freePort.ts'
import { commandsOn } from '../support/guide.ts'
import { keyPair } from '../support/keyPair.ts'
import { startOpenSsh, whyNoOpenSsh } from '../support/openSshServer.ts'
import { skipWith } from '../support/skipWith.ts'
import { resigned } from '../support/syntheticCertificate.ts'
import { readUnit } from '../support/unitFile.ts'
import { withOther } from '../support/withOther.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))
const commands = commandsOn('docs/guides/seller.md')
const [begin, allow, deny, status, verify, rent, end, revoke, revokeAndDeny, stop] = commands

const folder = mkdtempSync(join(tmpdir(), 'touchstone-renting-'))
const seller = join(folder, 'seller')
const buyer = join(folder, 'buyer')
const line = openCommandLine({ ...process.env, TOUCHSTONE_HOME: buyer })
const run = (args: readonly string[]) => line.run(args, { TOUCHSTONE_HOME: args[0] === 'provider' ? seller : buyer })
const keysFile = join(folder, 'server', 'authorized_keys')
const leasedKeys = () =>
  readFileSync(keysFile, 'utf8')
    .split('\n')
    .filter((text) => text.includes('touchstone-lease-'))

let server: Awaited<ReturnType<typeof startOpenSsh>> | undefined
let provider: ChildProcess | undefined
let [port, sshFlags] = [0, [] as string[]]
const buyerKey = toHex(loadSigner(buyer, 'validator', systemRandomness).publicKey)
const providerKey = toHex(loadSigner(seller, 'provider', systemRandomness).publicKey)

/** A command of the guide as it is typed here: names and places of this machine, and a quick run. */
const typedHere = (words: readonly string[]): string[] => {
  const more: Record<string, readonly string[]> = { verify: ['--preset', 'tiny', '--devices', 'cpu'] }
  // No card here is what the guide's buyer was sold.
  const claim = words.indexOf('--claim')
  const kept = claim < 0 ? words : words.toSpliced(claim, 2)
  const named = kept.map((word) =>
    word
      .replace('gpu-1.example.org:7878', `127.0.0.1:${port}`)
      .replace('gpu-1.example.org', '127.0.0.1')
      .replace('PROVIDER_KEY', providerKey)
      .replace('BUYER_KEY', buyerKey)
      .replace('box.json', join(folder, 'box.json')),
  )
  return [...named, ...(more[words[0]!] ?? [])]
}

/** The provider as the guide starts it; its lines until it listens or ends. */
async function startProvider(words: readonly string[], more: readonly string[] = []) {
  const typed = withOther([...typedHere(words), '--check', 'none', ...sshFlags], more)
  const args = [join(root, 'dist/main/touchstone.js'), ...typed]
  const child = spawn(process.execPath, args, { env: { ...process.env, TOUCHSTONE_HOME: seller }, stdio: 'pipe' })
  let err = ''
  child.stderr.on('data', (chunk: Buffer) => {
    err += chunk.toString()
  })
  const lines: string[] = []
  for await (const text of createInterface({ input: child.stdout })) {
    lines.push(text)
    if (text.includes('lease://')) break
  }
  if (lines.length === 0) await once(child, 'close')
  return { child, lines, err: () => err }
}

const why = whyNoOpenSsh()
if (why !== null) skipWith('the guide for providers, command by command', why)
else
  describe('the guide for providers, command by command', { timeout: 60_000 }, () => {
    beforeAll(async () => {
      mkdirSync(join(folder, 'home'))
      const host = keyPair()
      writeFileSync(join(folder, 'host.pub'), host.public)
      const place = { folder: join(folder, 'server'), home: join(folder, 'home') }
      server = await startOpenSsh({ ...place, hostKey: host.private, authorizedKeys: '' })
      port = await freePort()
      const files = ['--authorized-keys', keysFile, '--host-key-file', join(folder, 'host.pub')]
      sshFlags = [
        '--listen',
        `127.0.0.1:${port}`,
        '--ssh-port',
        String(server.port),
        '--confinement',
        'shared',
        ...files,
      ]
    })
    afterAll(async () => {
      provider?.kill('SIGKILL')
      await line.close()
      await server?.close()
      rmSync(folder, { recursive: true, force: true })
    })

    test('the unit starts the same command, and the guide shows each command of a seller and a buyer', () => {
      const unit = readUnit('touchstone-provider.service').command
      const [first] = commands
      expect(first).toEqual([
        ...unit.slice(unit.indexOf('touchstone') + 1, -2),
        '--allow-rent',
        'BUYER_KEY',
        ...unit.slice(-2),
      ])
      const kinds = commands.map(([name, more]) =>
        `${name} ${more!.startsWith('-') || more!.includes(':') ? '' : more}`.trim(),
      )
      expect(kinds).toEqual([
        'provider',
        'provider allow',
        'provider deny',
        'provider status',
        'verify',
        'rent',
        'rent',
        'provider revoke',
        'provider revoke',
        'provider stop',
      ])
    })

    test('a box that would let nobody in does not listen, and says what to change', async () => {
      const other = join(folder, 'other.pub')
      writeFileSync(other, keyPair().public)
      const shown = await startProvider(begin!, ['--host-key-file', other])
      expect(shown.err()).toMatch(/\[SSH_NOT_READY\]\nnext: It shows another key than .*--host-key-file/)
      const unread = await startProvider(begin!, ['--authorized-keys', join(folder, 'unread')])
      expect(unread.err()).toMatch(/\[SSH_NOT_READY\]\nnext: Its sshd must take keys from .*unread/)
      expect(leasedKeys()).toEqual([])
    })

    test('started as shown, it tries its SSH, then listens, in lines with a time and at most 100 columns', async () => {
      const started = await startProvider(begin!)
      provider = started.child
      expect(started.lines.join('\n')).toMatch(
        new RegExp(
          `^[0-9-]{10} [0-9:]{8} ssh works\n.* listening  port ${port}  buyers 1\n(.*\n)*.*lease://127.0.0.1:${port}#${providerKey}$`,
        ),
      )
      for (const text of started.lines) expect(text.length).toBeLessThanOrEqual(100)
      expect(leasedKeys()).toEqual([])
      expect((await run(['provider', 'revoke'])).stderr).toContain('[NOTHING_LEASED]')
    })

    test('its status, a certificate, renting, logging in with the line that is printed, and giving back', async () => {
      expect((await run(typedHere(status!))).stdout).toMatch(/^free +provider up since /)
      expect(await run(typedHere(verify!))).toMatchObject({ status: 0 })
      const rented = await run(typedHere(rent!))
      expect(rented).toMatchObject({ status: 0, stdout: expect.stringContaining('GENUINE') })
      const [, ssh] = /log in .*\n {2}(ssh .*)\n/.exec(rented.stdout)!
      const { stdout } = await promisify(execFile)('sh', ['-c', `${ssh} 'echo in the box'`])
      expect(stdout).toBe('in the box\n')
      const held = await run(['provider', 'status', '--json'])
      expect(JSON.parse(held.stdout)).toMatchObject({ state: 'leased', lease: { purpose: 'rent', holder: buyerKey } })
      expect(await run(typedHere(rent!))).toMatchObject({
        status: 2,
        stderr: expect.stringContaining('[RENTED_ALREADY]'),
      })
      expect(await run(typedHere(end!))).toMatchObject({ status: 0 })
      expect(leasedKeys()).toEqual([])
      expect(await run(typedHere(end!))).toMatchObject({ status: 2, stderr: expect.stringContaining('[NOT_RENTED]') })
    })

    test('attack 338: what is rented, and over by the note of it, can be given back after another try', async () => {
      const unseen = typedHere(rent!.slice(0, rent!.indexOf('--proof')))
      expect(await run(unseen)).toMatchObject({ status: 0, stdout: expect.stringContaining('as the provider says') })
      const note = join(stateFolder({ TOUCHSTONE_HOME: buyer }), 'rents', `${providerKey}.json`)
      writeFileSync(note, JSON.stringify({ ...JSON.parse(readFileSync(note, 'utf8')), untilMs: 0 }))
      expect(await run(unseen)).toMatchObject({ status: 3, stderr: expect.stringContaining('[BOX_BUSY]') })
      expect(existsSync(note.replace(/json$/, 'key'))).toBe(true)
      expect(await run(typedHere(end!))).toMatchObject({ status: 0 })
      expect(leasedKeys()).toEqual([])
    })

    test('attack 246: a host key that the buyer pins is not passed over because a lease names its own', async () => {
      const pinned = ['--host-key', `SHA256:${'A'.repeat(43)}`]
      const said = { status: 2, stderr: expect.stringContaining("'--host-key <fingerprint>' does nothing for a lease") }
      expect(await run([...typedHere(verify!), ...pinned])).toMatchObject(said)
      const address = `lease://127.0.0.1:${port}#${providerKey}`
      const work = ['work', 'run', 'matmul', 'a.npy', 'b.npy', '--on', address]
      expect(await run([...work, ...pinned])).toMatchObject(said)
      expect(await run([...work, '--on', 'root@127.0.0.1', ...pinned])).toMatchObject(said)
    })

    test('attack 158: what a check leaves open rents nothing, unless the buyer says so', async () => {
      const [whole, short] = [join(folder, 'box.json'), join(folder, 'short.json')]
      expect((await run(['check', whole, '--summary', short])).status).toBe(0)
      const bySummary = typedHere(rent!).map((word) => (word === whole ? short : word))
      expect((await run(['check', short])).status).toBe(4)
      expect(await run(bySummary)).toMatchObject({ status: 4, stderr: expect.stringContaining('[PROOF_OPEN]') })
      expect(leasedKeys()).toEqual([])
      for (const more of [['--full', whole], ['--unproven']]) {
        expect(await run([...bySummary, ...more])).toMatchObject({ status: 0 })
        expect(await run(typedHere(end!))).toMatchObject({ status: 0 })
      }
      expect(leasedKeys()).toEqual([])
    })

    test('attack 374: a summary whose signer speaks against the box rents nothing, whatever the buyer says', async () => {
      const short = join(folder, 'short.json')
      const signer = loadSigner(buyer, 'validator', systemRandomness)
      const rejected = (predicate: object) => Object.assign(predicate, { outcome: 'rejected' })
      writeFileSync(short, resigned(readFileSync(short, 'utf8'), rejected, signer))
      const words = typedHere(rent!).map((word) => (word === join(folder, 'box.json') ? short : word))
      const refused = { status: 1, stderr: expect.stringContaining('[PROOF_REFUSED]') }
      expect(await run([...words, '--unproven'])).toMatchObject(refused)
      expect(leasedKeys()).toEqual([])
    })

    test('attack 186: a receipt of some work is no certificate of a box, and rents nothing', async () => {
      const receipt = join(folder, 'receipt.json')
      const operands = ['a', 'b'].map((name) => join(folder, `${name}.npy`))
      const bytes = Uint8Array.from({ length: 64 }, (_, i) => i + 1)
      for (const file of operands) writeFileSync(file, encodeNpy({ type: 'i8', rows: 8, width: 8, bytes }))
      const product = ['--out', join(folder, 'c.npy'), '--receipt', receipt]
      expect((await run(['work', 'run', 'matmul', ...operands, ...product])).status).toBe(0)
      expect((await run(['check', receipt])).status).toBe(0)
      const byReceipt = typedHere(rent!).map((word) => (word === join(folder, 'box.json') ? receipt : word))
      for (const more of [[], ['--unproven']])
        expect(await run([...byReceipt, ...more])).toMatchObject({
          status: 1,
          stderr: expect.stringContaining('[PROOF_REFUSED]'),
        })
      expect(leasedKeys()).toEqual([])
    })

    test('attack 190: a certificate that names the box of another provider rents nothing', async () => {
      const [whole, other] = [join(folder, 'box.json'), join(folder, 'other.json')]
      const { payload } = JSON.parse(readFileSync(whole, 'utf8')) as { payload: string }
      const statement = JSON.parse(Buffer.from(payload, 'base64').toString('utf8'))
      const found = statement.predicate.extensions['x-address'] as string
      expect(found).toBe(`lease://127.0.0.1:${port}#${providerKey}`)
      const signer = loadSigner(buyer, 'validator', systemRandomness)
      const naming = (address: string) => {
        statement.predicate.extensions['x-address'] = address
        writeFileSync(other, sealEnvelope(Buffer.from(JSON.stringify(statement)), signer))
        return typedHere(rent!).map((word) => (word === whole ? other : word))
      }
      for (const elsewhere of [`lease://203.0.113.7:7878#${'ab'.repeat(32)}`, `lease://hub#${'ab'.repeat(32)}`])
        for (const more of [[], ['--unproven']]) {
          const words = naming(elsewhere)
          expect((await run(['check', other])).status).toBe(0)
          expect(await run([...words, ...more])).toMatchObject({
            status: 1,
            stderr: expect.stringContaining('[PROOF_OF_ANOTHER_BOX]'),
          })
        }
      expect(leasedKeys()).toEqual([])
      // The same provider at another place, or behind a hub, is the same one.
      for (const here of [`lease://203.0.113.7:7878#${providerKey}`, `lease://hub#${providerKey}`]) {
        expect(await run(naming(here))).toMatchObject({ status: 0 })
        expect(await run(typedHere(end!))).toMatchObject({ status: 0 })
      }
      expect(leasedKeys()).toEqual([])
    })

    test('attack 202: a certificate of another card than the buyer rents, or of none, rents nothing', async () => {
      const asSold = [...typedHere(rent!), '--claim', '8x H100 SXM']
      for (const more of [[], ['--unproven']])
        expect(await run([...asSold, ...more])).toMatchObject({
          status: 1,
          stdout: expect.stringContaining('NOT AS CLAIMED  sold 8 x H100 SXM'),
          stderr: expect.stringContaining('[PROOF_NOT_AS_CLAIMED]'),
        })
      expect(leasedKeys()).toEqual([])
      const unheld = asSold.toSpliced(asSold.indexOf('--proof'), 2)
      expect(await run(unheld)).toMatchObject({ status: 2, stderr: expect.stringContaining('--proof') })
    })

    test('with a key of its own; a tampered certificate rents nothing; the seller ends a lease', async () => {
      const file = join(folder, 'box.json')
      const text = readFileSync(file, 'utf8')
      writeFileSync(
        file,
        text.replace(/"payload":"(.)/, (_, first: string) => `"payload":"${first === 'A' ? 'B' : 'A'}`),
      )
      const refused = await run([...typedHere(rent!), '--json'])
      expect(refused.status).toBe(1)
      expect(JSON.parse(refused.stdout.trim().split('\n').at(-1)!)).toMatchObject({ error: { code: 'PROOF_REFUSED' } })
      expect(leasedKeys()).toEqual([])
      const own = join(folder, 'id')
      writeFileSync(own, keyPair().private, { mode: 0o600 })
      const unseen = typedHere(rent!.slice(0, rent!.indexOf('--proof')))
      const { rented } = JSON.parse((await run([...unseen, '--key', own, '--json'])).stdout)
      // Attack 354.
      expect(rented).toMatchObject({
        ssh: expect.stringContaining(`-i ${own}`),
        told: { confinement: expect.any(String) },
      })
      expect(rented).not.toHaveProperty('confinement')
      expect(leasedKeys()).toHaveLength(1)
      expect((await run(typedHere(deny!))).stdout).toMatch(
        new RegExp(
          `^kept out +${buyerKey}\n${buyerKey} still has the box to rent, until .*\n.*touchstone provider revoke\n$`,
        ),
      )
      expect(leasedKeys()).toHaveLength(1)
      expect((await run(typedHere(revoke!))).stdout).toMatch(/^revoked [0-9a-f]{32}; its access is gone\n/)
      expect(leasedKeys()).toEqual([])
      // What the seller ended is over for the buyer too.
      expect(await run(typedHere(end!))).toMatchObject({ status: 0 })
      expect(await run(unseen)).toMatchObject({ status: 3, stderr: expect.stringContaining('[LEASE_REFUSED]') })
      expect((await run(typedHere(allow!))).stdout).toBe(`allowed     ${buyerKey} to verify and rent\n`)
      expect(await run(unseen)).toMatchObject({ status: 0 })
      expect((await run(typedHere(revokeAndDeny!))).stdout).toContain(`\nkept out    ${buyerKey}\n`)
      expect(leasedKeys()).toEqual([])
      expect(await run(typedHere(end!))).toMatchObject({ status: 0 })
      expect((await run(typedHere(stop!))).stdout).toBe('stopped\n')
      expect(provider!.exitCode ?? (await once(provider!, 'exit'))[0]).toBe(0)
      expect((await run(['provider', 'status'])).stderr).toContain('[PROVIDER_NOT_RUNNING]')
      const leases = join(stateFolder({ TOUCHSTONE_HOME: seller }), 'leases')
      const letGo = await lockFolder(leases, () => expect.unreachable('nobody else has it'))
      expect((await run(['provider', 'status'])).stderr).toContain('[PROVIDER_STARTING]')
      await letGo()
    })

    test('attack 87: whoever may only verify is refused with its key and the permission it lacks', async () => {
      rmSync(join(stateFolder({ TOUCHSTONE_HOME: seller }), 'leases', 'keys'), { recursive: true })
      const started = await startProvider(begin!.filter((word) => !['--allow-rent', 'BUYER_KEY'].includes(word)))
      provider = started.child
      const refused = await run(typedHere(rent!.slice(0, rent!.indexOf('--proof'))))
      expect(refused).toMatchObject({
        status: 3,
        stderr: expect.stringContaining(`touchstone provider allow ${buyerKey}`),
      })
      expect(leasedKeys()).toEqual([])
    })
  })
