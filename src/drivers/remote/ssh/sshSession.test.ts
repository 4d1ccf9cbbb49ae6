import { mkdirSync } from 'node:fs'
import net from 'node:net'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import { hostKey, never, useSshBoxes } from '../../../../test/support/sshBoxes.ts'
import { startSshOffer } from '../../../../test/support/sshOffer.ts'
import { startSshServer } from '../../../../test/support/sshServer.ts'
import { openSession } from './sshSession.ts'

const { root } = useSshBoxes()

describe.concurrent('openSession', () => {
  test('a tunnel that comes late has not used up the time of the login', async () => {
    const home = join(root, 'late')
    mkdirSync(home, { recursive: true })
    const server = await startSshServer({ home, user: 'renter', password: 'secret', hostKey })
    const dial = async () => {
      await delay(2_500)
      return net.connect(server.port, '127.0.0.1')
    }
    const trust = { knownHostsFiles: [], ownKnownHostsFile: join(home, 'known'), onFirstUse: () => true }
    const to = { user: 'renter', host: '127.0.0.1', port: server.port }
    const options = { ...trust, auth: { password: 'secret' }, dial, connectLimitMs: 2_000 }
    const session = await openSession(to, options, never)
    session.abort()
    await server.close()
  })

  test('attack 504: a line whose other end hangs up is lost, also where our half would stay open', async () => {
    const home = join(root, 'half')
    mkdirSync(home, { recursive: true })
    const server = await startSshServer({ home, user: 'renter', password: 'secret', hostKey })
    const dial = async () => net.connect({ port: server.port, host: '127.0.0.1', allowHalfOpen: true })
    const trust = { knownHostsFiles: [], ownKnownHostsFile: join(home, 'known'), onFirstUse: () => true }
    const to = { user: 'renter', host: '127.0.0.1', port: server.port }
    const session = await openSession(to, { ...trust, auth: { password: 'secret' }, dial }, never)
    void server.close()
    const lost = await Promise.race([session.gone.then(() => 'lost'), delay(3_000)])
    session.abort()
    expect(lost).toBe('lost')
  })
})

test.each([
  ['a group of its own choice', { keyExchange: 'diffie-hellman-group-exchange-sha256', compression: 'none' }],
  ['compression', { keyExchange: 'curve25519-sha256', compression: 'zlib,zlib@openssh.com' }],
])('attack 258: nothing is computed for a server that has nothing but %s', async (_, offer) => {
  const server = await startSshOffer(offer)
  const options = { auth: { password: 'secret' }, knownHostsFiles: [], ownKnownHostsFile: join(root, 'none') }
  const to = { user: 'renter', host: '127.0.0.1', port: server.port }
  await expect(openSession(to, { ...options, onFirstUse: () => true, connectLimitMs: 2_000 }, never)).rejects.toThrow(
    /does not speak SSH as we do/,
  )
  const KEY_EXCHANGE = 30
  expect(server.messages.filter((message) => message >= KEY_EXCHANGE)).toEqual([])
  server.close()
})
