import { setImmediate as turn } from 'node:timers/promises'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { WebSocket } from 'ws'
import { testSigner } from '../../../../test/support/testSigner.ts'
import { toHex } from '../../../core/bytes/hex.ts'
import { encodeAnswer, MAX_CLOCK_SKEW_MS } from '../../../core/lease/leaseMessages.ts'
import { dialWs, TUNNEL } from '../../system/wsChannel.ts'
import { type LeaseHub, openLeaseHub } from './leaseHub.ts'

const self = toHex(testSigner(1).publicKey)
const provider = testSigner(2)
const key = toHex(provider.publicKey)
const never = new AbortController().signal
const sockets: WebSocket[] = []
let hub: LeaseHub

beforeEach(async () => {
  hub = await openLeaseHub({ host: '127.0.0.1', port: 0 }, { self, accepts: async (known) => known === key })
})
afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.terminate()
  await hub.close()
})

const helloOf = (sentAtMs: number): Uint8Array => encodeAnswer({ kind: 'hello', to: self, sentAtMs }, provider)

/** Dials in and greets; the promise says when the hub hangs up. */
function dialIn(hello: Uint8Array): Promise<'hung up'> {
  const socket = new WebSocket(`ws://127.0.0.1:${hub.port}`)
  sockets.push(socket)
  socket.on('open', () => socket.send(hello))
  return new Promise((resolve, reject) => {
    socket.once('close', () => resolve('hung up'))
    socket.once('error', reject)
  })
}

test('a greeting that somebody recorded does not take the place of the provider who sent it', async () => {
  const hello = helloOf(Date.now())
  void dialIn(hello)
  const line = await hub.line(key, never)
  expect(await dialIn(hello)).toBe('hung up')
  expect(await hub.line(key, never)).toBe(line)
})

test('a greeting of another time is refused', async () => {
  expect(await dialIn(helloOf(Date.now() - 2 * MAX_CLOCK_SKEW_MS))).toBe('hung up')
  expect(await dialIn(helloOf(Date.now() + 2 * MAX_CLOCK_SKEW_MS))).toBe('hung up')
})

test('a provider that dials again takes its own place', async () => {
  const now = Date.now()
  void dialIn(helloOf(now - 1))
  const first = await hub.line(key, never)
  void dialIn(helloOf(now))
  await expect.poll(() => hub.line(key, never)).not.toBe(first)
})

/** A provider's end of a tunnel that the validator has taken, and what came through it. */
async function tunnelInUse() {
  const socket = new WebSocket(`ws://127.0.0.1:${hub.port}/tunnel`).on('error', () => {})
  sockets.push(socket)
  socket.on('open', () => socket.send(Buffer.alloc(32, 7)))
  const stream = await hub.tunnel('07'.repeat(32), never)
  const came = { bytes: 0, pieces: 0 }
  stream
    .on('error', () => {})
    .on('data', (piece: Buffer) => {
      came.bytes += piece.length
      came.pieces++
    })
  return { socket, came }
}

test.each([
  ['empty', 0],
  ['of one byte', 1],
])('attack 437: a tunnel with messages that are %s ends, whoever it belongs to', async (_, bytes) => {
  const { socket, came } = await tunnelInUse()
  for (let i = 0; i < 20_000; i++) socket.send(Buffer.alloc(bytes))
  await expect.poll(() => socket.readyState).toBe(WebSocket.CLOSED)
  expect(came.pieces).toBeLessThanOrEqual(1001)
})

test('attack 437: a tunnel carries SSH in small packets, 50,000 roots in one breath, and large ones without a limit', async () => {
  const { socket, came } = await tunnelInUse()
  const root = Buffer.alloc(84)
  for (let i = 0; i < 50_000; i++) socket.send(root)
  for (let i = 0; i < 200; i++) socket.send(Buffer.alloc(32 * 1024))
  await expect.poll(() => came.bytes, { timeout: 20_000 }).toBe(50_000 * 84 + 200 * 32 * 1024)
  expect(socket.readyState).toBe(WebSocket.OPEN)
})

test('attack 505: what is written into a tunnel in one turn goes together: a packet that comes in three pieces is not torn', async () => {
  const socket = await dialWs(`ws://127.0.0.1:${hub.port}/tunnel`, TUNNEL, never)
  sockets.push(socket)
  socket.send(Buffer.alloc(32, 7))
  const came: Buffer[] = []
  socket.on('message', (message: Buffer) => came.push(message))
  const stream = await hub.tunnel('07'.repeat(32), never)
  // The length, what is sealed, and its tag, as the SSH library writes them without its native part.
  for (let i = 0; i < 3000; i++) {
    for (const bytes of [4, 60, 16]) stream.write(Buffer.alloc(bytes, i))
    await turn()
  }
  for (let i = 0; i < 100; i++) stream.write(Buffer.alloc(32 * 1024))
  const all = 3000 * 80 + 100 * 32 * 1024
  await expect.poll(() => came.reduce((sum, { length }) => sum + length, 0)).toBe(all)
  expect(Math.min(...came.map(({ length }) => length))).toBeGreaterThanOrEqual(80)
  expect(Math.max(...came.map(({ length }) => length))).toBeLessThanOrEqual(TUNNEL.maxPayload)
  const packets = Array.from({ length: 3000 }, (_, i) => Buffer.alloc(80, i))
  expect(Buffer.compare(Buffer.concat(came), Buffer.concat(packets, all))).toBe(0)
  expect(socket.readyState).toBe(WebSocket.OPEN)
})
