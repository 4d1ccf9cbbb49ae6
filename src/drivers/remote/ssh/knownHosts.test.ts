import { execFileSync } from 'node:child_process'
import { createHmac, randomBytes } from 'node:crypto'
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterAll, describe, expect, test } from 'vitest'
import { isCostly, keyTypesFor } from './hostTrust.ts'
import {
  fingerprintOf,
  forgetHosts,
  judgeHostKey,
  keyTypeOf,
  knownHostName,
  knownHostsLine,
  lineNamesHost,
  OF_FLEET,
  parseKnownHosts,
  readKnownHosts,
  rememberHostKey,
} from './knownHosts.ts'

const folder = mkdtempSync(join(tmpdir(), 'touchstone-known-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const keyOf = (type: string, rest: Buffer): Buffer => {
  const head = Buffer.alloc(4)
  head.writeUInt32BE(type.length)
  return Buffer.concat([head, Buffer.from(type), rest])
}
const ours = keyOf('ssh-ed25519', randomBytes(36))
const other = keyOf('ssh-ed25519', randomBytes(36))
const rsa = keyOf('ssh-rsa', randomBytes(280))

const hashedLine = (name: string, blob: Buffer): string => {
  const salt = randomBytes(20)
  const hash = createHmac('sha1', salt).update(name).digest('base64')
  return `|1|${salt.toString('base64')}|${hash} ssh-ed25519 ${blob.toString('base64')}\n`
}
const linesFor = (text: string, host = 'gpu.example', port = 2222) =>
  parseKnownHosts(text).filter((line) => lineNamesHost(line, host, port))
const ask = (text: string, blob = ours, { port = 2222, pin = null as string | null } = {}) =>
  judgeHostKey(blob, linesFor(text, 'gpu.example', port), pin)

describe('known hosts', () => {
  test('a key is known by plain, hashed, bracketed and wildcard entries', () => {
    expect(ask(knownHostsLine('gpu.example', 2222, 'ssh-ed25519', ours))).toMatchObject({ kind: 'trusted' })
    expect(ask(hashedLine('[gpu.example]:2222', ours))).toMatchObject({ kind: 'trusted', by: 'known_hosts' })
    expect(ask(`[*.example]:2222 ssh-ed25519 ${ours.toString('base64')} a comment`)).toMatchObject({ kind: 'trusted' })
    expect(ask(`gpu.example ssh-ed25519 ${ours.toString('base64')}`, ours, { port: 22 })).toMatchObject({
      kind: 'trusted',
    })
  })

  test('behavior: an entry for another port, host or a negated pattern says nothing', () => {
    expect(ask(`gpu.example ssh-ed25519 ${ours.toString('base64')}`).kind).toBe('new')
    expect(ask(hashedLine('[gpu.example]:22', ours)).kind).toBe('new')
    expect(ask(`[*.example]:2222,![gpu.example]:2222 ssh-ed25519 ${ours.toString('base64')}`).kind).toBe('new')
    expect(ask(`# ${knownHostsLine('gpu.example', 2222, 'ssh-ed25519', ours)}`).kind).toBe('new')
  })

  test('behavior: another key, also of another type, is a change that names both', () => {
    const changed = ask(knownHostsLine('gpu.example', 2222, 'ssh-ed25519', other))
    expect(changed).toEqual({ kind: 'changed', fingerprint: fingerprintOf(ours), expected: [fingerprintOf(other)] })
    expect(ask(knownHostsLine('gpu.example', 2222, 'ssh-rsa', rsa)).kind).toBe('changed')
  })

  test('behavior: a pin beats the files, and a revoked key beats the pin', () => {
    const line = knownHostsLine('gpu.example', 2222, 'ssh-ed25519', other)
    expect(ask(line, ours, { pin: fingerprintOf(ours) })).toMatchObject({ kind: 'trusted', by: 'pin' })
    expect(ask('', ours, { pin: fingerprintOf(other) })).toMatchObject({ kind: 'changed' })
    const revoked = `@revoked * ssh-ed25519 ${ours.toString('base64')}`
    expect(ask(revoked, ours, { pin: fingerprintOf(ours) }).kind).toBe('revoked')
    expect(ask(`@cert-authority * ssh-ed25519 ${ours.toString('base64')}`).kind).toBe('new')
  })

  test('behavior: the types we know are preferred', () => {
    const known = knownHostsLine('gpu.example', 2222, 'ssh-rsa', rsa)
    expect(keyTypesFor(linesFor(known)).slice(0, 2)).toEqual(['rsa-sha2-512', 'rsa-sha2-256'])
    expect(keyTypesFor(linesFor(known, 'elsewhere'))[0]).toBe('ssh-ed25519')
  })

  test('property: no text makes the parser fail, and no pattern makes it slow', () => {
    fc.assert(
      fc.property(fc.string({ maxLength: 400 }), (text) => {
        for (const line of parseKnownHosts(text)) lineNamesHost(line, 'gpu.example', 2222)
      }),
    )
    const greedy = parseKnownHosts(`${'*a'.repeat(200)} ssh-ed25519 ${ours.toString('base64')}`)
    expect(lineNamesHost(greedy[0]!, 'a'.repeat(250), 22)).toBe(true)
    expect(lineNamesHost(greedy[0]!, `${'a'.repeat(250)}b`, 22)).toBe(false)
  })

  test('property: a hashed name matches itself and no other', () => {
    fc.assert(
      fc.property(fc.domain(), fc.domain(), fc.integer({ min: 1, max: 65_535 }), (one, two, port) => {
        const line = parseKnownHosts(hashedLine(knownHostName(one, port), ours))[0]!
        expect(lineNamesHost(line, one, port)).toBe(true)
        expect(lineNamesHost(line, two, port)).toBe(one === two)
      }),
      { numRuns: 30 },
    )
  })

  test('a first key is stored once, readable by its owner alone, after what was there', async () => {
    const path = join(folder, 'deep', 'known_hosts')
    rememberHostKey(path, knownHostsLine('a', 22, 'ssh-ed25519', ours))
    rememberHostKey(path, knownHostsLine('b', 2222, 'ssh-ed25519', other))
    expect(statSync(path).mode & 0o777).toBe(0o600)
    const paths = [path, join(folder, 'missing')]
    expect(await readKnownHosts(paths, { host: 'a', port: 22 })).toMatchObject([{ hosts: 'a', blob: ours }])
    expect(await readKnownHosts(paths, { host: 'b', port: 2222 })).toMatchObject([{ hosts: '[b]:2222', blob: other }])
  })

  test('attack 283: a link that leads nowhere is a file that cannot be read, and not one without hosts', async () => {
    const [path, target] = [join(folder, 'link'), join(folder, 'unmounted')]
    symlinkSync(target, path)
    await expect(readKnownHosts([path], { host: 'a', port: 22 })).rejects.toThrow('leads nowhere')
    expect(() => rememberHostKey(path, knownHostsLine('a', 22, 'ssh-ed25519', ours))).toThrow('leads nowhere')
    writeFileSync(target, knownHostsLine('a', 22, 'ssh-ed25519', ours))
    expect(await readKnownHosts([path], { host: 'a', port: 22 })).toHaveLength(1)
  })

  test('attack 139: boxes of a cohort that are met for the first time at once are all remembered', async () => {
    const path = join(folder, 'many')
    const hosts = Array.from({ length: 16 }, (_, i) => `box-${i}`)
    await Promise.all(hosts.map(async (host) => rememberHostKey(path, knownHostsLine(host, 22, 'ssh-ed25519', ours))))
    for (const host of hosts) expect(await readKnownHosts([path], { host, port: 22 })).toHaveLength(1)
  })

  describe('attack 482: strangers who have boxes added, each of which adds a line', () => {
    const ofFleet = (i: number) => knownHostsLine(`n${i}.box.test`, 22, 'ssh-rsa', Buffer.alloc(1047, 1), OF_FLEET)
    const lines = Math.ceil((4 * 1024 * 1024) / ofFleet(0).length)
    const strangers = Array.from({ length: lines }, (_, i) => ofFleet(i)).join('')
    const full = (name: string, before: string) => {
      const path = join(folder, name)
      writeFileSync(path, `${before}${strangers}`)
      return path
    }

    test('a full file refuses hosts that are new, and none that it knows', async () => {
      const path = full('full', knownHostsLine('honest', 22, 'ssh-ed25519', ours))
      const before = readFileSync(path)
      const noRoom = expect.objectContaining({ detail: { code: 'KNOWN_HOSTS_FULL', path }, fleet: 'ours' })
      expect(() => rememberHostKey(path, knownHostsLine('new', 22, 'ssh-ed25519', ours))).toThrow(noRoom)
      expect(readFileSync(path).equals(before)).toBe(true)
      expect(await readKnownHosts([path], { host: 'honest', port: 22 })).toMatchObject([{ blob: ours }])
    })

    test('what a fleet learnt is forgotten where no box is there any more, and nothing that a person has there', async () => {
      const [mine, kept] = [knownHostsLine('n7.box.test', 22, 'ssh-ed25519', ours), ofFleet(5)]
      const path = full('forgotten', `# by hand\n${mine}`)
      forgetHosts(path, ['ssh://root@n5.box.test:22', 'lease://hub#00', 'local'])
      expect(readFileSync(path, 'utf8')).toBe(`# by hand\n${mine}${kept}`)
      rememberHostKey(path, knownHostsLine('new', 22, 'ssh-ed25519', ours))
      expect(await readKnownHosts([path], { host: 'new', port: 22 })).toHaveLength(1)
    })

    test('property: lines that cannot name the host are passed over, and no other', async () => {
      const path = join(folder, 'any')
      const name = fc.constantFrom('gpu.example', 'GPU.example', '[gpu.example]:22', '*.example', 'gpu?example', 'a,b')
      const hosts = fc.array(fc.oneof(name, fc.constant('!gpu.example'), fc.domain()), { minLength: 1, maxLength: 3 })
      const marker = fc.constantFrom('', '@revoked ', '@cert-authority\t', '  ', '#')
      const line = fc.tuple(marker, hosts, fc.constantFrom(' ', '\t'))
      await fc.assert(
        fc.asyncProperty(fc.array(line, { maxLength: 6 }), async (all) => {
          const rows = all.map(([at, names, gap]) => `${at}${names}${gap}ssh-ed25519 ${ours.toString('base64')}`)
          const text = [...rows, hashedLine('gpu.example', other)].join('\n')
          writeFileSync(path, text)
          const read = await readKnownHosts([path], { host: 'gpu.example', port: 22 })
          expect(read).toEqual(linesFor(text, 'gpu.example', 22))
        }),
      )
    })
  })

  test.skipIf(!existsSync('/usr/bin/ssh-keygen'))('ssh-keygen agrees on fingerprints and on hashed entries', () => {
    const key = join(folder, 'host')
    execFileSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-f', key])
    const blob = Buffer.from(readFileSync(`${key}.pub`, 'utf8').split(' ')[1]!, 'base64')
    expect(execFileSync('ssh-keygen', ['-lf', `${key}.pub`], { encoding: 'utf8' })).toContain(fingerprintOf(blob))
    expect(keyTypeOf(blob)).toBe('ssh-ed25519')
    const file = join(folder, 'known')
    writeFileSync(file, knownHostsLine('gpu.example', 2222, 'ssh-ed25519', blob))
    execFileSync('ssh-keygen', ['-q', '-H', '-f', file], { stdio: 'ignore' })
    expect(readFileSync(file, 'utf8')).toMatch(/^\|1\|/)
    expect(ask(readFileSync(file, 'utf8'), blob).kind).toBe('trusted')
  })
})

test('attack 439: RSA keys that take long to check are told from those that ssh-keygen makes', () => {
  const field = (bytes: Buffer) => Buffer.concat([Buffer.from([0, 0, bytes.length >> 8, bytes.length & 255]), bytes])
  const rsa = (e: Buffer, modulusBytes: number) =>
    Buffer.concat([Buffer.from('ssh-rsa'), e, Buffer.alloc(modulusBytes, 0xff)].map(field))
  const usual = Buffer.from([1, 0, 1])
  expect(isCostly(rsa(usual, 512))).toBe(false)
  expect(isCostly(rsa(Buffer.from([0, 0xff, 0xff, 0xff, 0xff]), 1024))).toBe(false)
  expect(isCostly(rsa(Buffer.from([1, 0, 0, 0, 1]), 256))).toBe(true)
  expect(isCostly(rsa(usual, 1025))).toBe(true)
  // What is no such key is for others to refuse.
  for (const blob of [Buffer.alloc(0), rsa(usual, 1025).subarray(0, 100), ours]) expect(isCostly(blob)).toBe(false)
})
