import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir, userInfo } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterAll, describe, expect, test } from 'vitest'
import { fleetAddress, ownFleetAddress, readTarget } from './fleetAddress.ts'

const never = new AbortController().signal
const key = 'ab'.repeat(32)
const refusal = (why: string) => expect.objectContaining({ message: expect.stringContaining(why) })

describe('an address of a fleet', () => {
  test.each([
    ['root@1.2.3.4', 'ssh://root@1.2.3.4:22'],
    ['1.2.3.4:2222', 'ssh://1.2.3.4:2222'],
    ['GPU-1.Example.org:2222', 'ssh://gpu-1.example.org:2222'],
    ['ssh://root@h', 'ssh://root@h:22'],
    ['root@2001:db8::1', 'ssh://root@[2001:db8::1]:22'],
    ['ssh -p 2222 root@h', 'ssh://root@h:2222'],
    ['local', 'local'],
    [`lease://h:7878#${key}`, `lease://h:7878#${key}`],
    [`lease://hub#${key}`, `lease://hub#${key}`],
  ])('%s is kept as %s, and that as itself', (written, kept) => {
    expect(fleetAddress(written)).toBe(kept)
    expect(fleetAddress(kept)).toBe(kept)
  })

  test.each([
    ['ssh://root@203.0.113.7:22', ['3405803783', '0xcb007107', '203.0.113.007', '203.28935', '[::ffff:203.0.113.7]']],
    ['ssh://root@[2001:db8::1]:22', ['[2001:DB8::1]', '[2001:db8:0:0::1]', '[2001:0db8::0:0001]']],
  ])('attack 187: %s is one box in every spelling', (kept, hosts) => {
    for (const host of hosts) expect(fleetAddress(`root@${host}`)).toBe(kept)
  })

  test.each([
    ['ssh -i /root/key root@h', 'with its own key'],
    ['ssh -J jump root@h', 'with its own key'],
    ['ssh -o Compression=yes root@h', 'with its own key'],
    ['ssh -o ProxyCommand=id root@h', 'is not supported'],
    ['ssh -6 root@h', 'with its own key'],
    ['ssh ssh://root@h:22 -p 2222', 'the port is given twice'],
    ['ssh good@h -l bad', 'the user is given twice'],
    ['ssh root@good root@bad', 'a second host'],
    ['root:secret@h', 'it carries a password'],
    ['my_alias', 'neither a name nor an address'],
    ['root@h:99999', 'port'],
    ['http://h', 'not of the form'],
    ['', 'neither a name nor an address'],
    ['-oProxyCommand=id', 'neither a name nor an address'],
    ['lease://h', 'is not the address'],
  ])('%s is refused with a reason', (written, why) => {
    expect(() => fleetAddress(written)).toThrow(refusal(why))
  })

  test('whatever is typed, what is kept has one spelling, or it is refused', () => {
    fc.assert(
      fc.property(fc.string({ maxLength: 40 }), (text) => {
        let kept: string
        try {
          kept = fleetAddress(text)
        } catch {
          return
        }
        expect(fleetAddress(kept)).toBe(kept)
      }),
    )
  })
})

describe('an address of validator.yaml', () => {
  const folder = mkdtempSync(join(tmpdir(), 'touchstone-alias-'))
  afterAll(() => rmSync(folder, { recursive: true, force: true }))

  /** With a program `ssh` in PATH whose settings say this. */
  async function withSettings<T>(lines: readonly string[], work: () => Promise<T>): Promise<T> {
    writeFileSync(join(folder, 'ssh'), `#!/bin/sh\nprintf '%s\\n' ${lines.map((line) => `'${line}'`).join(' ')}\n`, {
      mode: 0o755,
    })
    const { PATH } = process.env
    process.env.PATH = `${folder}:${PATH}`
    try {
      return await work()
    } finally {
      process.env.PATH = PATH
    }
  }

  test('may be an alias: host, user and port are those of the SSH settings', async () => {
    const settings = ['hostname 203.0.113.9', 'user ubuntu', 'port 2201']
    expect(await withSettings(settings, () => ownFleetAddress('my_box', never))).toBe('ssh://ubuntu@203.0.113.9:2201')
    expect(readTarget('my_box')).toMatchObject({ host: 'my_box' })
  })

  test('is not looked up where it is plain', async () => {
    const work = () =>
      Promise.all(['ssh://root@h:22', 'root@1.2.3.4', 'local'].map((one) => ownFleetAddress(one, never)))
    expect(await withSettings(['hostname elsewhere'], work)).toEqual([
      'ssh://root@h:22',
      'ssh://root@1.2.3.4:22',
      'local',
    ])
  })

  test.each(['proxyjump other', 'proxycommand nc %h %p'])('with "%s" in the settings is refused', async (line) => {
    const refused = withSettings(['hostname h', 'user u', 'port 22', line], () => ownFleetAddress('box', never))
    await expect(refused).rejects.toThrow('through another machine')
  })

  test('that no settings know is a name, and its user is whoever runs the validator', async () => {
    const settings = ['hostname h', `user ${userInfo().username}`, 'port 22']
    expect(await withSettings(settings, () => ownFleetAddress('h', never))).toBe(`ssh://${userInfo().username}@h:22`)
  })
})
