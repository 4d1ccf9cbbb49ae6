import { once } from 'node:events'
import fs, { mkdtempSync, rmSync } from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import net, { type AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { faultOf, fingerprintOfPair } from '../../../../test/suites/sshBoxSuite.ts'
import { keyPair } from '../../../../test/support/keyPair.ts'
import { startSshServer } from '../../../../test/support/sshServer.ts'
import { testSigner } from '../../../../test/support/testSigner.ts'
import { toHex } from '../../../core/bytes/hex.ts'
import {
  decodeAsk,
  encodeAnswer,
  type LeaseAnswerMessage,
  type LeaseAsk,
  MAX_CLOCK_SKEW_MS,
} from '../../../core/lease/leaseMessages.ts'
import { parseSshPublicKey } from '../../../core/lease/sshPublicKey.ts'
import { sealToKey } from '../../system/sealToKey.ts'
import { systemClock } from '../../system/systemClock.ts'
import { systemRandomness } from '../../system/systemRandomness.ts'
import { askProvider, type ProviderLine } from './askProvider.ts'
import { connectLeased, type LeasedOptions } from './connectLeased.ts'
import { openSshKey } from './openSshKey.ts'
import { rentBox } from './rentBox.ts'

const [validator, provider] = [testSigner(1), testSigner(2)]
const [self, key] = [validator, provider].map(({ publicKey }) => toHex(publicKey)) as [string, string]
const options: LeasedOptions = {
  purpose: 'verify',
  seconds: 60,
  signer: validator,
  clock: systemClock,
  randomness: systemRandomness,
  ssh: { knownHostsFiles: [], ownKnownHostsFile: '/nowhere', onFirstUse: () => false, flavours: [], keep: false },
}

type Request = Extract<LeaseAsk, { kind: 'request' }>

const endOf = ({ askedAtMs, seconds }: Pick<Request, 'askedAtMs' | 'seconds'>) => askedAtMs + 1000 * seconds

const granted = (asked: Parameters<typeof endOf>[0], id: string, sealed: Uint8Array, expiresAtMs = endOf(asked)) =>
  ({ kind: 'granted', to: self, id, expiresAtMs, sealed: Buffer.from(sealed).toString('base64') }) as const

/** A provider that answers a request for a lease as it likes, and gives everything back. */
function lying(answer: (ask: Request) => LeaseAnswerMessage, released: string[] = []): ProviderLine {
  const said: Uint8Array[] = []
  const messages = (async function* () {
    for (;;) yield said.shift()!
  })()
  return {
    key,
    channel: {
      messages,
      close: () => {},
      send: async (bytes) => {
        const { message } = decodeAsk(bytes, key)
        if (message.kind === 'request') said.push(encodeAnswer(answer(message), provider))
        else if (message.kind === 'release') {
          released.push(message.id)
          said.push(encodeAnswer({ kind: 'released', to: self, id: message.id }, provider))
        }
      },
    },
  }
}

/** The lease that leads where the provider likes, of a provider that was reached at `reached`. */
async function led(details: object, reached: string | undefined, more: Partial<LeasedOptions> = {}) {
  const line = lying(({ id, sshKey, ...asked }) => {
    const where = { user: 'u', hostKey: `SHA256:${'A'.repeat(43)}`, confinement: 'own account', tunnel: '', ...details }
    const sealed = sealToKey(parseSshPublicKey(sshKey), new TextEncoder().encode(JSON.stringify(where)))
    return granted(asked, id, sealed)
  })
  const from = reached === undefined ? {} : { reached }
  return await faultOf(connectLeased({ ...line, ...from }, { ...options, ...more }, new AbortController().signal))
}

describe('attack 92: sealed details that lead elsewhere', () => {
  let visits = 0
  const server = net.createServer((socket) => {
    visits++
    socket.destroy()
  })
  let port = 0
  beforeAll(async () => {
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    port = (server.address() as AddressInfo).port
  })
  afterAll(() => server.close())

  test.each([
    ['this machine', '127.0.0.1', '203.0.113.7'],
    ['this machine by name', 'localhost', '203.0.113.7'],
    ['this machine in another spelling', '127.1', '203.0.113.7'],
    ['the metadata of a cloud', '169.254.169.254', '203.0.113.7'],
    ['somebody else', '198.51.100.1', '203.0.113.7'],
    ['another machine of the same loopback', '127.0.0.2', '127.0.0.1'],
    ['anything, after dialling in without a tunnel', '127.0.0.1', undefined],
  ])('are refused: %s', async (_, host, reached) => {
    const { detail, blame } = await led({ host, port }, reached)
    expect([detail.code, blame, visits]).toEqual(['LEASE_LEADS_ELSEWHERE', 'prover', 0])
  })

  test('attack 481: a name that could not be looked up, for want of a file of ours, leads nowhere yet', async () => {
    const { readFileSync } = fs
    fs.readFileSync = () => {
      throw Object.assign(new Error('no file left'), { code: 'EMFILE' })
    }
    syncBuiltinESMExports()
    try {
      const { detail, blame } = await led({ host: 'localhost', port }, '127.0.0.1')
      expect([detail.code, blame]).toEqual(['NO_ROOM_TO_DIAL', 'validator'])
    } finally {
      fs.readFileSync = readFileSync
      syncBuiltinESMExports()
    }
  })

  test('a port of another service is refused, also at the address of the provider', async () => {
    for (const service of [21, 25, 80, 443, 1023])
      expect((await led({ host: '127.0.0.1', port: service }, '127.0.0.1')).detail.code).toBe('LEASE_LEADS_ELSEWHERE')
  })

  test('a lease that leads to where the provider was reached opens, by the address and not by the name', async () => {
    const host = keyPair()
    const home = mkdtempSync(join(tmpdir(), 'touchstone-leased-'))
    const made = { home, user: 'u', hostKey: host.private, authorizedKey: '' }
    const ssh = await startSshServer(made)
    const line = lying(({ id, sshKey, ...asked }) => {
      made.authorizedKey = sshKey
      const where = { user: 'u', host: 'localhost', port: ssh.port, hostKey: fingerprintOfPair(host) }
      const details = JSON.stringify({ ...where, confinement: 'own account', tunnel: '' })
      const sealed = sealToKey(parseSshPublicKey(sshKey), new TextEncoder().encode(details))
      return granted(asked, id, sealed)
    })
    const own = { ...options, ssh: { ...options.ssh, ownKnownHostsFile: join(home, 'known_hosts') } }
    const box = await connectLeased({ ...line, reached: '127.0.0.1' }, own, new AbortController().signal)
    expect(box.access).toMatchObject({ account: 'u', hostKeyTrust: 'pinned', confinement: 'own account' })
    await box.close()
    await ssh.close()
    rmSync(home, { recursive: true })
  })

  test('the address of the provider, and a network that was allowed, are dialled', async () => {
    expect((await led({ host: '127.0.0.1', port }, '127.0.0.1')).detail.code).toBe('BOX_UNREACHABLE')
    const networks = ['127.0.0.0/8']
    expect((await led({ host: '127.0.0.1', port }, '203.0.113.7', { networks })).detail.code).toBe('BOX_UNREACHABLE')
    expect(visits).toBeGreaterThanOrEqual(2)
  })
})

const asked = async (answer: (ask: Request) => LeaseAnswerMessage) =>
  await faultOf(connectLeased(lying(answer), options, new AbortController().signal))

test.each(['{}', 'no JSON', '{"user":"-oProxyCommand=x"}'])(
  'attack 63: connection details that cannot be read (%s) are a fault of the provider',
  async (details) => {
    const { detail, blame } = await asked(({ id, sshKey, ...ask }) => {
      const sealed = sealToKey(parseSshPublicKey(sshKey), new TextEncoder().encode(details))
      return granted(ask, id, sealed)
    })
    expect([detail.code, blame]).toEqual(['PROVIDER_NONSENSE', 'prover'])
  },
)

test.each([
  ['as asked', () => 0, 'LEASE_LEADS_ELSEWHERE'],
  ['by a clock that is 2 minutes behind', () => -MAX_CLOCK_SKEW_MS, 'LEASE_LEADS_ELSEWHERE'],
  ['by a clock that is 2 minutes ahead', () => MAX_CLOCK_SKEW_MS, 'LEASE_LEADS_ELSEWHERE'],
  ['too early', () => -MAX_CLOCK_SKEW_MS - 1, 'PROVIDER_NONSENSE'],
  ['too late', () => MAX_CLOCK_SKEW_MS + 1, 'PROVIDER_NONSENSE'],
  ['in 1970', (end: number) => -end, 'PROVIDER_NONSENSE'],
  ['in 275760', (end: number) => 8.64e15 - end, 'PROVIDER_NONSENSE'],
])('attack 338: a lease that ends %s is taken or given back', async (_, later, code) => {
  const [ids, released]: [string[], string[]] = [[], []]
  const line = lying(({ id, sshKey, ...asked }) => {
    ids.push(id)
    const where = { user: 'u', host: '127.0.0.1', port: 22, hostKey: `SHA256:${'A'.repeat(43)}`, tunnel: '' }
    const details = new TextEncoder().encode(JSON.stringify({ ...where, confinement: 'own account' }))
    const end = endOf(asked)
    return granted(asked, id, sealToKey(parseSshPublicKey(sshKey), details), end + later(end))
  }, released)
  const wish = { ...options, purpose: 'rent', seconds: 36_000 } as const
  const lease = { id: 'ab'.repeat(16), key: openSshKey(systemRandomness.bytes(32)) }
  // Where its end is taken, the next look is at where it leads.
  expect((await faultOf(rentBox(line, wish, lease, new AbortController().signal))).detail.code).toBe(code)
  expect(released).toEqual(ids)
})

test('attack 63: the code of a refusal is the word of the provider, and never that of a fault of ours', async () => {
  const { detail, blame, message } = await asked(({ id }) => ({
    kind: 'refused',
    to: self,
    id,
    code: 'KERNEL_FILE_MISSING',
    why: 'so that it is your own fault',
  }))
  expect([detail.code, blame]).toEqual(['LEASE_REFUSED', 'prover'])
  expect(message).toBe('the provider refuses, as it says: "so that it is your own fault [KERNEL_FILE_MISSING]"')
})

test('attack 431: a provider that answers what nobody asked is cut off: each of its words is a signature to check', async () => {
  const other = encodeAnswer({ kind: 'released', to: self, id: 'f'.repeat(32) }, provider)
  let [read, closed] = [0, false]
  const messages = (async function* () {
    for (; read < 1000; read++) yield other
  })()
  const channel = {
    messages,
    send: async () => {},
    close: () => {
      closed = true
    },
  }
  const { detail } = await faultOf(connectLeased({ key, channel }, options, new AbortController().signal))
  expect(detail.code).toBe('PROVIDER_NONSENSE')
  expect(closed).toBe(true)
  expect(read).toBeLessThan(20)
})

test('attack 460: a provider that reads nothing is as one that says nothing', async () => {
  let isClosed = false
  const channel = {
    ...{ messages: (async function* () {})(), send: () => new Promise<void>(() => {}) },
    close: () => {
      isClosed = true
    },
  }
  const line: ProviderLine = { channel, key: 'ab'.repeat(32) }
  const message = { kind: 'release', to: line.key, id: '00'.repeat(16), askedAtMs: 0 } as const
  const asked = askProvider(line, message, testSigner(3), new AbortController().signal, 50)
  await expect(asked).rejects.toMatchObject({ detail: { code: 'PROVIDER_SILENT' } })
  expect(isClosed).toBe(true)
})
