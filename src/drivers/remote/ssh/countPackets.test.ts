import { mkdtempSync, rmSync } from 'node:fs'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Connection } from 'ssh2'
import ssh2 from 'ssh2'
import { expect, test } from 'vitest'
import { countPackets } from './countPackets.ts'
import { openSession } from './sshSession.ts'

/** What the library does not offer: packets of any kind. */
interface Protocol {
  readonly _packetRW: {
    readonly write: { readonly allocStart: number; alloc(bytes: number): Buffer; finalize(packet: Buffer): Buffer }
  }
  readonly _cipher: { encrypt(packet: Buffer): void }
}

/** A request to the whole connection, with the wish for an answer. */
function sendGlobalRequest({ _protocol }: Connection & { readonly _protocol: Protocol }): void {
  const { write } = _protocol._packetRW
  const packet = write.alloc(7)
  packet.set([80, 0, 0, 0, 1, 0x61, 1], write.allocStart)
  _protocol._cipher.encrypt(write.finalize(packet))
}

test('attack 430: a server that sends 20,000 requests outside of channels is dropped', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'touchstone-ssh-'))
  const { private: hostKey } = ssh2.utils.generateKeyPairSync('ed25519')
  const server = new ssh2.Server({ hostKeys: [hostKey] }, (client) => {
    client.on('error', () => {})
    client.on('authentication', (context) => context.accept())
    client.on('ready', () => {
      for (let i = 0; i < 20_000; i++) sendGlobalRequest(client as never)
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  try {
    const to = { user: 'box', host: '127.0.0.1', port: (server.address() as AddressInfo).port }
    const auth = { password: 'any' }
    const trust = { ownKnownHostsFile: join(folder, 'known'), knownHostsFiles: [], onFirstUse: () => true }
    const session = await openSession(to, { auth, ...trust }, new AbortController().signal)
    await session.gone
    expect(session.isLost()).toBe(true)
  } finally {
    await new Promise<void>((resolve) => server.close(() => resolve()))
    rmSync(folder, { recursive: true })
  }
})

test('a login, an upload and a run of 32 devices with a packet for each root are no flood', () => {
  let [ms, dropped] = [0, false]
  const count = countPackets(
    () => {
      dropped = true
    },
    () => ms,
  )
  const many = (times: number, told: string) => {
    for (let i = 0; i < times; i++) count(told)
  }
  many(60, 'Handshake: (local) KEX method: curve25519-sha256')
  many(20, 'Inbound: Received USERAUTH_SUCCESS')
  // 20 GB of weights in a moment, a window of 96 KiB at a time.
  for (let i = 0; i < 200_000; i++) {
    many(3, 'Outbound: Sending CHANNEL_DATA (r:0, 32768)')
    count('Inbound: CHANNEL_WINDOW_ADJUST (r:0, 98304)')
  }
  many(6400, 'Inbound: CHANNEL_DATA (r:0, 29)')
  ms = 300_000
  many(300_000, 'Inbound: CHANNEL_DATA (r:1, 49)')
  ms = 900_000
  many(180, 'Inbound: Received REQUEST_FAILURE')
  many(1000, 'Outbound: Sending CHANNEL_DATA (r:1, 4)')
  expect(dropped).toBe(false)
})

test.each([
  [30_000, 'CHANNEL_EXTENDED_DATA (r:1, 1)'],
  [110_000, 'CHANNEL_DATA (r:77, 24)'],
])('attack 430: %i packets of %s are a flood', (times, told) => {
  let dropped = false
  const count = countPackets(
    () => {
      dropped = true
    },
    () => 0,
  )
  for (let i = 0; i < times; i++) count(`Inbound: ${told}`)
  expect(dropped).toBe(true)
})
