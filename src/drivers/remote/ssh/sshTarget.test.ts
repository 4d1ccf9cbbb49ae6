import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { joinPasted, parseSshTarget } from './sshTarget.ts'

describe('addresses that people have', () => {
  test.each([
    ['root@203.0.113.7', { user: 'root', host: '203.0.113.7' }],
    ['host:2222', { host: 'host', port: 2222 }],
    ['my_box', { host: 'my_box' }],
    ['ssh://ubuntu@gpu.example.com:22/', { user: 'ubuntu', host: 'gpu.example.com', port: 22 }],
    ['2001:db8::7', { host: '2001:db8::7' }],
    ['root@2001:db8::7', { user: 'root', host: '2001:db8::7' }],
    ['root@[2001:db8::7]:2222', { user: 'root', host: '2001:db8::7', port: 2222 }],
    ['ssh -p 2222 root@host', { user: 'root', host: 'host', port: 2222 }],
    ['ssh root@host -p 2222 -i ~/.ssh/id', { user: 'root', host: 'host', port: 2222, identities: ['~/.ssh/id'] }],
    ['ssh -tAp2222 -l me host', { user: 'me', host: 'host', port: 2222 }],
    ['ssh -p 12 root@host -L 8080:localhost:8080 -N', { user: 'root', host: 'host', port: 12 }],
    ['ssh -J jump:2200 -o Compression=yes -F f host', { host: 'host', jump: 'jump:2200' }],
    ['ssh \t-4N ssh://root@host:2222 ', { user: 'root', host: 'host', port: 2222, settings: ['-4'] }],
  ])('%s', (text, expected) => {
    expect(parseSshTarget(text)).toMatchObject(expected)
  })

  test.each([
    'http://a@b',
    'ssh://',
    '@host',
    'a@',
    'a@host:0',
    'a@host:65536',
    'host:22/path',
    'a@-oProxyCommand=x',
    '-oProxyCommand=x',
    '-l@host',
    'a b@host',
    '[host]',
    'host;id',
    '$(id)',
    'host\n',
    'a@b@c',
    'ssh -p',
    'ssh -p 99999 host',
    'ssh -p x host',
    'ssh -l -oX host',
    'ssh -p 22',
    '',
  ])('%j is refused', (text) => {
    expect(() => parseSshTarget(text)).toThrow(/not the address of a box/)
  })

  // Attack 315: in each of these ssh goes elsewhere, or as somebody else, than one who reads it otherwise.
  test.each([
    'ssh -o "SendEnv=LANG root@good" root@bad',
    'ssh -E "log root@good" root@bad',
    'ssh -E log root@good',
    "ssh -i 'a root@good' root@bad",
    'ssh root@go\\od',
    'ssh root@$HOST',
    'ssh root@good\nssh root@bad',
    'ssh\u00a0root@good',
    'ssh root@good root@bad',
    'ssh root@good nvidia-smi',
    'ssh root@good -- root@bad',
    'ssh -- root@good',
    'ssh - root@good',
    'ssh root@good -G',
    'ssh -p 2222 ssh://root@h:22',
    'ssh ssh://root@h:22 -p 2222',
    'ssh root@h -l root',
    'ssh -l good ssh://bad@h',
    'ssh -F a -F b h',
    'ssh -J a -J b h',
    'ssh root@h:2222',
    'ssh root@[2001:db8::7]',
    'ssh -o Port=2222 root@h',
    'ssh -oport=2222 root@h',
    'ssh -o User=bad h',
    'ssh -o HostName=bad root@good',
    'ssh -o ProxyJump=bad root@good',
    'ssh -o ProxyCommand=bad root@good',
    'ssh -o ControlPath=bad root@good',
    'ssh -o Include=bad root@good',
    'ssh -o Compression root@good',
    'ssh -S bad root@good',
    'ssh -W bad:22 root@good',
    'ssh -b 127.0.0.2 root@good',
    'ssh -tP2222 root@good',
  ])('attack 315: %j is refused', (text) => {
    expect(() => parseSshTarget(text)).toThrow(/not the address of a box/)
  })

  test.each(['a:secret@host', 'ssh://a:secret@host'])('a password is refused and not repeated: %s', (text) => {
    expect(() => parseSshTarget(text)).toThrow(/^(?!.*secret).*password/)
  })

  test('property: whatever is typed is understood or refused, and no host begins with a dash', () => {
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string(),
          fc.string().map((text) => `ssh ${text}`),
        ),
        (text) => {
          try {
            expect(parseSshTarget(text).host).toMatch(/^[A-Za-z0-9_:]/)
          } catch (error) {
            expect(String(error)).toContain('not the address of a box')
          }
        },
      ),
    )
  })
})

test('a command that was pasted without quotes is one word, up to the next option of ours', () => {
  const typed = 'node touchstone verify ssh -p 2222 root@host --claim H100'.split(' ')
  expect(joinPasted(typed)).toEqual(['node', 'touchstone', 'verify', 'ssh -p 2222 root@host', '--claim', 'H100'])
  expect(joinPasted(['verify', '--out', 'ssh', 'host'])).toEqual(['verify', '--out', 'ssh', 'host'])
  expect(joinPasted(['verify', 'ssh'])).toEqual(['verify', 'ssh'])
  for (const word of ['SendEnv=LANG root@good', '', 'a\tb'])
    expect(() => parseSshTarget(joinPasted(['ssh', '-o', word, 'root@bad'])[0]!)).toThrow(/holds a blank/)
})
