import { createHash } from 'node:crypto'
import { once } from 'node:events'
import net, { type AddressInfo } from 'node:net'
import { afterEach, expect, test } from 'vitest'
import { dialWs, listenWs, MESSAGES, wsChannel } from './wsChannel.ts'

const servers: net.Server[] = []
afterEach(async () => {
  for (const server of servers.splice(0)) await new Promise((done) => server.close(done))
})

const MAGIC = '258EAFA5-E914-47DA-95CA-C5AB0DC85B11'

/** Shakes hands as a WebSocket server does, and sends `more` in the same breath. */
async function serverThatSends(more: Uint8Array): Promise<string> {
  const server = net.createServer((socket) => {
    socket.on('error', () => {})
    socket.once('data', (head) => {
      const key = /sec-websocket-key: (.*)\r\n/i.exec(head.toString('latin1'))?.[1] ?? ''
      const accept = createHash('sha1').update(`${key}${MAGIC}`).digest('base64')
      const lines = ['HTTP/1.1 101 x', 'Upgrade: websocket', 'Connection: Upgrade', `Sec-WebSocket-Accept: ${accept}`]
      socket.write(Buffer.concat([Buffer.from(`${lines.join('\r\n')}\r\n\r\n`), more]))
    })
  })
  servers.push(server)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return `ws://127.0.0.1:${(server.address() as AddressInfo).port}`
}

test('one address cannot take every place of a listener', async () => {
  const never = new AbortController().signal
  const listener = await listenWs({ host: '127.0.0.1', port: 0 }, () => {}, 8)
  try {
    const sockets = []
    for (let i = 0; i < 3; i++) sockets.push(await dialWs(`ws://127.0.0.1:${listener.port}`, MESSAGES, never))
    await once(sockets[2]!, 'close')
    expect(sockets.map(({ readyState }) => readyState)).toEqual([1, 1, 3])
    sockets[0]!.close()
    await once(sockets[0]!, 'close')
    const next = await dialWs(`ws://127.0.0.1:${listener.port}`, MESSAGES, never)
    next.ping()
    await once(next, 'pong')
  } finally {
    await listener.close()
  }
})

/** The process would end on an error event that nobody listens for, and this test run with it. */
test.each([
  ['reserved bits', Uint8Array.of(0xff, 0xff, 0xff, 0xff, 0xff)],
  ['a frame that claims to be endless', Uint8Array.of(0x82, 127, 0x7f, 0, 0, 0, 0, 0, 0, 0)],
])('a broken frame that comes with the handshake (%s) costs the connection, not the process', async (_, frame) => {
  const url = await serverThatSends(frame)
  const talk = async () => wsChannel(await dialWs(url, MESSAGES, new AbortController().signal)).send(new Uint8Array(1))
  await expect(talk()).rejects.toMatchObject({ name: 'TouchstoneError' })
})
