import { createPrivateKey, generateKeyPairSync } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Connection, ServerConfig } from 'ssh2'
import ssh2 from 'ssh2'
import { expect, test, vi } from 'vitest'
import { faultOf } from '../../../../test/suites/sshBoxSuite.ts'
import { countPackets } from './countPackets.ts'
import { openSession, type SshSession } from './sshSession.ts'

/** What the library does not offer: packets of any kind. */
interface Protocol {
  readonly _packetRW: {
    readonly write: { readonly allocStart: number; alloc(bytes: number): Buffer; finalize(packet: Buffer): Buffer }
  }
  readonly _cipher: { encrypt(packet: Buffer): void }
  channelData(channel: number, data: Buffer): void
}

/** A request to the whole connection, with the wish for an answer. */
function sendGlobalRequest({ _protocol }: Connection & { readonly _protocol: Protocol }): void {
  const { write } = _protocol._packetRW
  const packet = write.alloc(7)
  packet.set([80, 0, 0, 0, 1, 0x61, 1], write.allocStart)
  _protocol._cipher.encrypt(write.finalize(packet))
}

const never = new AbortController().signal
const ed25519 = ssh2.utils.generateKeyPairSync('ed25519').private

/** A session with a server that does as it likes. */
async function withServer(
  config: Partial<ServerConfig>,
  onReady: (client: Connection & { readonly _protocol: Protocol }) => void,
  use: (open: () => Promise<SshSession>) => Promise<void>,
): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'touchstone-ssh-'))
  const server = new ssh2.Server({ hostKeys: [ed25519], ...config }, (client) => {
    client.on('error', () => {})
    client.on('authentication', (context) => context.accept())
    client.on('ready', () => onReady(client as never))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  try {
    const to = { user: 'box', host: '127.0.0.1', port: (server.address() as AddressInfo).port }
    const auth = { password: 'any' }
    const trust = { ownKnownHostsFile: join(folder, 'known'), knownHostsFiles: [], onFirstUse: () => true }
    await use(() => openSession(to, { auth, ...trust }, never))
  } finally {
    await new Promise<void>((resolve) => server.close(() => resolve()))
    rmSync(folder, { recursive: true })
  }
}

/** What a server does after the login, and that it is dropped for it. */
const isDroppedFor = (onReady: Parameters<typeof withServer>[1]): Promise<void> =>
  withServer({}, onReady, async (open) => {
    const session = await open()
    await session.gone
    expect(session.isLost()).toBe(true)
  })

test('attack 430: a server that sends 20,000 requests outside of channels is dropped', () =>
  isDroppedFor((client) => {
    for (let i = 0; i < 20_000; i++) sendGlobalRequest(client)
  }))

test('attack 439: a server that asks for one key exchange after the other is dropped at the second that it asks for', async () => {
  let done = 0
  await isDroppedFor((client) => {
    const again = (): void =>
      client.rekey(() => {
        done++
        again()
      })
    again()
  })
  expect(done).toBe(1)
})

test.each(['ecdh-sha2-nistp384', 'ecdh-sha2-nistp521', 'diffie-hellman-group16-sha512'] as const)(
  'attack 439: nobody is asked for the costly exchange %s',
  (kex) =>
    withServer(
      { algorithms: { kex: [kex] } },
      () => {},
      async (open) => expect((await faultOf(open())).detail.code).toBe('BOX_UNREACHABLE'),
    ),
)

test.each(['curve25519-sha256', 'ecdh-sha2-nistp256', 'diffie-hellman-group14-sha256'] as const)(
  'a server that knows nothing but %s is reached',
  (kex) =>
    withServer(
      { algorithms: { kex: [kex] } },
      () => {},
      async (open) => (await open()).close(),
    ),
)

test('attack 439: an RSA key whose exponent has full size is refused before its signature is checked', async () => {
  const told: string[] = []
  const { connect } = ssh2.Client.prototype
  const spied = vi.spyOn(ssh2.Client.prototype, 'connect').mockImplementation(function (this: ssh2.Client, config) {
    const debug = (text: string): void => {
      told.push(text)
      config.debug?.(text)
    }
    return connect.call(this, { ...config, debug })
  })
  try {
    await withServer(
      { hostKeys: [costlyKey()] },
      () => {},
      async (open) => expect((await faultOf(open())).detail.code).toBe('HOST_KEY_COSTLY'),
    )
    expect(told).toContain('Received DH Reply')
    expect(told).not.toContain('Verifying signature ...')
  } finally {
    spied.mockRestore()
  }
})

/** Public and private exponent the other way round: cheap to sign with, and dear to check. */
function costlyKey(): string {
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
  const jwk = privateKey.export({ format: 'jwk' })
  const number = (text: string) => BigInt(`0x${Buffer.from(text, 'base64url').toString('hex')}`)
  const text = (value: bigint) => {
    const hex = value.toString(16)
    return Buffer.from(hex.padStart(hex.length + (hex.length % 2), '0'), 'hex').toString('base64url')
  }
  const [p, q, e] = [number(jwk.p!), number(jwk.q!), number(jwk.e!)]
  const key = { ...jwk, e: jwk.d!, d: jwk.e!, dp: text(e % (p - 1n)), dq: text(e % (q - 1n)) }
  return createPrivateKey({ format: 'jwk', key }).export({ type: 'pkcs1', format: 'pem' }).toString()
}

/** SFTP as a server likes it: an answer with this payload to the first question, and these of its own behind it. */
function floodOverSftp(payload: Buffer, times: number) {
  const length = Buffer.alloc(4)
  length.writeUInt32BE(payload.length)
  const chunk = Buffer.concat(Array.from({ length: 100 }, () => [length, payload]).flat())
  return (client: Connection & { readonly _protocol: Protocol }): void => {
    client.on('session', (accept) => {
      accept().on('sftp', (acceptSftp) => {
        const { outgoing } = acceptSftp() as unknown as { readonly outgoing: { readonly id: number } }
        setTimeout(() => {
          for (let i = 0; i < times / 100; i++) client._protocol.channelData(outgoing.id, chunk)
        }, 50)
      })
    })
  }
}

test('attack 440: a server that sends SFTP answers to questions that nobody asked is dropped', () => {
  const status = Buffer.from([101, 0x7f, 0xff, 0xff, 0xff, 0, 0, 0, 0])
  return withServer({}, floodOverSftp(status, 1000), async (open) => {
    const session = await open()
    await session.sftp('a test', never)
    await session.gone
    expect(session.isLost()).toBe(true)
  })
})

test('attack 441: a server that sends 3 MiB to a channel that nobody opened is dropped', () =>
  isDroppedFor((client) => {
    for (let i = 0; i < 96; i++) client._protocol.channelData(77, Buffer.alloc(32 * 1024))
  }))

/** Hears it all, and says whether the line was dropped. */
function counter() {
  let [ms, dropped] = [0, false]
  const count = countPackets(
    () => {
      dropped = true
    },
    () => ms,
  )
  return {
    many: (times: number, ...told: readonly string[]) => {
      for (let i = 0; i < times; i++) for (const one of told) count(one)
    },
    wait: (moreMs: number) => {
      ms += moreMs
    },
    isDropped: () => dropped,
  }
}

const MIB = 1024 * 1024
const [OPENED, ASKED_FOR_SFTP] = [
  'Outbound: Sending CHANNEL_OPEN (r:0, session)',
  'Outbound: Sending CHANNEL_REQUEST (r:0, subsystem: sftp)',
]
const VERSION = 'SFTP: Inbound: Received VERSION (v3, exts:posix-rename@openssh.com)'
const EXCHANGE = 'Handshake: KEX algorithm: curve25519-sha256'
const STATUS = 'SFTP: Inbound: Received STATUS (id:7, 0, "Success")'
const granted = (bytes: number) => `Outbound: Sending CHANNEL_WINDOW_ADJUST (r:0, ${bytes})`

test('a login, an upload and a run of 32 devices with a packet for each root are no flood', () => {
  const { many, wait, isDropped } = counter()
  many(60, 'Handshake: (local) KEX method: curve25519-sha256')
  many(1, EXCHANGE)
  many(20, 'Inbound: Received USERAUTH_SUCCESS')
  many(12, OPENED)
  many(1, ASKED_FOR_SFTP, 'Inbound: CHANNEL_DATA (r:0, 300)', VERSION)
  // 20 GB of weights in a moment, a window of 96 KiB at a time; new keys after each 512 MiB.
  for (let i = 0; i < 200_000; i++) {
    many(3, 'SFTP: Outbound: Sending WRITE (id:7)', 'Outbound: Sending CHANNEL_DATA (r:0, 32768)')
    many(1, 'Inbound: CHANNEL_WINDOW_ADJUST (r:0, 98304)')
    many(3, STATUS)
    if (i % 5461 === 5460) many(1, EXCHANGE)
  }
  many(6400, 'Inbound: CHANNEL_DATA (r:0, 29)')
  wait(300_000)
  many(300_000, 'Inbound: CHANNEL_DATA (r:1, 49)')
  wait(600_000)
  many(180, 'Inbound: Received REQUEST_FAILURE')
  many(1000, 'Outbound: Sending CHANNEL_DATA (r:1, 4)')
  expect(isDropped()).toBe(false)
})

test.each([
  [30_000, 'CHANNEL_EXTENDED_DATA (r:1, 1)'],
  [110_000, 'CHANNEL_DATA (r:77, 24)'],
])('attack 430: %i packets of %s are a flood', (times, told) => {
  const { many, isDropped } = counter()
  many(10, OPENED)
  many(times, `Inbound: ${told}`)
  expect(isDropped()).toBe(true)
})

test('attack 439: new keys once and then every five minutes are taken, and more are not', () => {
  const { many, wait, isDropped } = counter()
  many(2, EXCHANGE)
  for (let i = 0; i < 12; i++) {
    wait(300_000)
    many(1, EXCHANGE)
  }
  expect(isDropped()).toBe(false)
  many(1, EXCHANGE)
  expect(isDropped()).toBe(true)
})

test.each([
  ['many more answers than questions', Array.from({ length: 10 }, () => STATUS)],
  ['a list of names, which we never ask for', ['SFTP: Inbound: Received NAME (id:7, 21000)']],
  ['attributes, which we never ask for', ['SFTP: Inbound: Received ATTRS (id:7)']],
  ['a greeting of thousands of extensions', Array.from({ length: 3 }, () => 'Inbound: CHANNEL_DATA (r:0, 32768)')],
])('attack 440: SFTP with %s is a flood', (_, answers) => {
  const { many, isDropped } = counter()
  many(1, OPENED, ASKED_FOR_SFTP)
  many(1, ...answers)
  expect(isDropped()).toBe(true)
})

test('attack 440: the words of an answer over SFTP are counted', () => {
  const { many, isDropped } = counter()
  many(1, OPENED, ASKED_FOR_SFTP, VERSION)
  many(30, 'SFTP: Outbound: Sending WRITE (id:7)', `SFTP: Inbound: Received STATUS (id:7, 4, "${'x'.repeat(MIB)}")`)
  expect(isDropped()).toBe(true)
})

test('attack 441: what comes in channels stays within what was granted', () => {
  const { many, isDropped } = counter()
  many(1, OPENED)
  many(64, 'Inbound: CHANNEL_DATA (r:0, 32768)')
  many(100, granted(MIB))
  many(50 * 32, 'Inbound: CHANNEL_DATA (r:0, 32768)', 'Inbound: CHANNEL_EXTENDED_DATA (r:0, 32768)')
  expect(isDropped()).toBe(false)
  many(1, 'Inbound: CHANNEL_DATA (r:77, 1)')
  expect(isDropped()).toBe(true)
})
