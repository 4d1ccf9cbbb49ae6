import type { AddressInfo } from 'node:net'
import net from 'node:net'
import { join } from 'node:path'
import ssh2 from 'ssh2'
import { describe, expect, test } from 'vitest'
import { faultOf, fingerprintOfPair, sshBoxSuite } from '../../../../test/suites/sshBoxSuite.ts'
import { keyPair } from '../../../../test/support/keyPair.ts'
import { never, useSshBoxes } from '../../../../test/support/sshBoxes.ts'
import { startSshServer } from '../../../../test/support/sshServer.ts'
import { connectSsh, isNodeRecent, type SshBoxOptions } from './connectSsh.ts'

sshBoxSuite('the SSH server of npm install', ({ home, hostKey, authorizedKey, env }) =>
  startSshServer({ home, user: 'renter', hostKey, authorizedKey, ...(env ? { env } : {}) }),
)

const { root, withBox } = useSshBoxes()

describe.concurrent('connectSsh', () => {
  test('attack 95: a server that hangs up right after the login is a fault, and leaving it takes no time', async () => {
    await withBox({ dropAfterLogin: true }, {}, async (connect) => {
      const box = await connect()
      expect((await faultOf(box.install(never))).detail.code).toBe('BOX_CONNECTION_LOST')
      await box.close()
    })
  })

  test('a password is enough, and a wrong one is a refusal that does not repeat it', async () => {
    await withBox({}, {}, async (connect) => {
      const box = await connect()
      expect(box.access.account).toBe('renter')
    })
    await withBox({}, { auth: { password: 'hunter2' } }, async (connect) => {
      const fault = await faultOf(connect())
      expect(fault.detail).toMatchObject({ code: 'SSH_AUTH_FAILED', tried: 'the password' })
      expect(JSON.stringify([fault.detail, fault.message, fault.nextStep])).not.toContain('hunter2')
    })
  })

  test('attack 14: a pin may be of any key of the server, and of no other', async () => {
    const rsa = ssh2.utils.generateKeyPairSync('rsa', { bits: 2048 })
    const ecdsa = ssh2.utils.generateKeyPairSync('ecdsa', { bits: 256 })
    const keys = [rsa, ecdsa, keyPair()]
    for (const pair of keys)
      await withBox(
        { hostKey: keys.map((key) => key.private) },
        { hostKey: fingerprintOfPair(pair) },
        async (connect) => {
          expect((await connect()).access).toMatchObject({ hostKey: fingerprintOfPair(pair), hostKeyTrust: 'pinned' })
        },
      )
    const other = { hostKey: fingerprintOfPair(keyPair()) }
    for (const served of [[rsa.private], keys.map((key) => key.private)])
      await withBox({ hostKey: served }, other, async (connect) => {
        expect((await faultOf(connect())).detail).toMatchObject({ code: 'HOST_KEY_CHANGED', expected: other.hostKey })
      })
  })

  // Its limit is short: nothing else may hold the thread meanwhile.
  test.sequential('a closed port, a silent port and a port that talks nonsense are three different faults of the network', async () => {
    const listener = net.createServer((socket) => socket.on('error', () => {}))
    await new Promise<void>((resolve) => listener.listen(0, '127.0.0.1', resolve))
    const talker = net.createServer((socket) => {
      socket.on('error', () => {})
      socket.resume()
      socket.end('HTTP/1.1 400 Bad Request\r\n\r\n'.repeat(100))
    })
    await new Promise<void>((resolve) => talker.listen(0, '127.0.0.1', resolve))
    const options: SshBoxOptions = {
      auth: { password: 'x' },
      knownHostsFiles: [],
      ownKnownHostsFile: join(root, 'none'),
      onFirstUse: () => true,
      flavours: [],
      keep: false,
      connectLimitMs: 300,
    }
    const at = (port: number, signal = never) => connectSsh(`ssh://a@127.0.0.1:${port}`, options, signal)
    const silent = (listener.address() as AddressInfo).port
    expect(await faultOf(at(silent))).toMatchObject({ detail: { code: 'BOX_TIMEOUT' }, blame: 'network', retry: true })
    const nonsense = (talker.address() as AddressInfo).port
    expect((await faultOf(at(nonsense))).detail.code).toBe('BOX_UNREACHABLE')
    const interrupt = new AbortController()
    const waiting = at(silent, interrupt.signal)
    interrupt.abort(new Error('interrupted'))
    await expect(waiting).rejects.toThrow('interrupted')
    await new Promise((resolve) => talker.close(resolve))
    expect((await faultOf(at(nonsense))).detail).toMatchObject({
      code: 'BOX_UNREACHABLE',
      why: 'nothing listens on that port (ECONNREFUSED)',
    })
    listener.close()
  })

  test('Node is recent enough from 20.19 on', () => {
    const recent = ['v20.19.0', 'v20.20.2', 'v22.0.0', 'v100.1.1'].map(isNodeRecent)
    expect(recent).toEqual([true, true, true, true])
    expect(['', 'v20.18.9', 'v18.99.0', 'node v22.0.0', '22.0.0'].map(isNodeRecent)).not.toContain(true)
  })
})
