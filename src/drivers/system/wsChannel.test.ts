import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { createServer, IncomingMessage } from 'node:http'
import net, { type AddressInfo } from 'node:net'
import { afterEach, expect, test, vi } from 'vitest'
import { WebSocket } from 'ws'
import type { Seat } from '../../ports/leases.ts'
import { keepDoor } from './keepDoor.ts'
import { dialWs, listenWs, MESSAGES, wsChannel } from './wsChannel.ts'

const servers: net.Server[] = []
afterEach(async () => {
  for (const server of servers.splice(0)) await new Promise((done) => server.close(done))
})

const MAGIC = '258EAFA5-E914-47DA-95CA-C5AB0DC85B11'

/** Shakes hands as a WebSocket server does, and sends `more` in the same breath, and `then` when it is spoken to. */
async function serverThatSends(more: Uint8Array, then: Uint8Array = Buffer.of()): Promise<string> {
  const server = net.createServer((socket) => {
    socket.on('error', () => {})
    socket.once('data', (head) => {
      const key = /sec-websocket-key: (.*)\r\n/i.exec(head.toString('latin1'))?.[1] ?? ''
      const accept = createHash('sha1').update(`${key}${MAGIC}`).digest('base64')
      const lines = ['HTTP/1.1 101 x', 'Upgrade: websocket', 'Connection: Upgrade', `Sec-WebSocket-Accept: ${accept}`]
      socket.write(Buffer.concat([Buffer.from(`${lines.join('\r\n')}\r\n\r\n`), more]))
      socket.once('data', () => socket.write(then))
    })
  })
  servers.push(server)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return `ws://127.0.0.1:${(server.address() as AddressInfo).port}`
}

/** Dials from one of the many addresses that loopback has. */
async function dialFrom(last: number, port: number): Promise<WebSocket> {
  const socket = new WebSocket(`ws://127.0.0.1:${port}`, { localAddress: `127.0.0.${last}` })
  socket.on('error', () => {})
  await once(socket, 'open')
  return socket
}

async function answers(socket: WebSocket): Promise<void> {
  socket.ping()
  await once(socket, 'pong')
}

test('attack 88: 256 silent sockets from four addresses lock nobody out', async () => {
  const listener = await listenWs({ host: '127.0.0.1', port: 0 }, () => {})
  try {
    const silent = Array.from({ length: 256 }, (_, i) => dialFrom(2 + (i % 4), listener.port))
    const sockets = await Promise.all(silent)
    for (let i = 0; i < 8; i++) await answers(await dialFrom(10 + i, listener.port))
    expect(sockets.filter(({ readyState }) => readyState === WebSocket.OPEN).length).toBeGreaterThanOrEqual(240)
  } finally {
    await listener.close()
  }
})

test('attack 88: whoever says nothing goes, also before the handshake; whoever has spoken may be silent for a while', async () => {
  const rules = { firstWordMs: 1000, idleMs: 100_000 }
  const listener = await listenWs(
    { host: '127.0.0.1', port: 0 },
    (_, path, seat) => path === '/' && seat.heard(),
    rules,
  )
  try {
    const spoke = await dialFrom(2, listener.port)
    const silent = net.connect(listener.port, '127.0.0.1').on('error', () => {})
    const shaken = new WebSocket(`ws://127.0.0.1:${listener.port}/silent`).on('error', () => {})
    await Promise.all([once(silent, 'close'), once(shaken, 'close')])
    await answers(spoke)
  } finally {
    await listener.close()
  }
})

test('attack 88: strangers push out strangers, never a known key, and a key has its newest four', async () => {
  const seated = (socket: WebSocket, _: string, seat: Seat) => socket.on('message', (data) => seat.known(String(data)))
  const listener = await listenWs({ host: '127.0.0.1', port: 0 }, seated, { places: 8 })
  try {
    const known: WebSocket[] = []
    for (let i = 0; i < 5; i++) {
      const socket = await dialFrom(2, listener.port)
      socket.send('key')
      await answers(socket)
      known.push(socket)
    }
    await expect.poll(() => known[0]!.readyState).toBe(WebSocket.CLOSED)
    const strangers: WebSocket[] = []
    for (let i = 0; i < 20; i++) strangers.push(await dialFrom(3 + i, listener.port))
    for (const socket of known.slice(1)) await answers(socket)
    await expect.poll(() => strangers.filter((one) => one.readyState === WebSocket.OPEN).length).toBe(8)
  } finally {
    await listener.close()
  }
})

test('attack 201: strangers of one network are listened to so often, however many lines they have; known keys always', async () => {
  const heard = new Map<string, number>()
  const listening = async (socket: WebSocket, _: string, seat: Seat) => {
    for await (const message of wsChannel(socket).messages) {
      const said = String.fromCharCode(...message)
      heard.set(said, (heard.get(said) ?? 0) + 1)
      if (said === 'known') seat.known('key')
      else seat.heard()
    }
  }
  const words = { atOnce: 8, perSecond: 1e-6 }
  const listener = await listenWs({ host: '127.0.0.1', port: 0 }, (...given) => void listening(...given), { words })
  try {
    const say = async (socket: WebSocket, word: string, times: number) => {
      for (let i = 0; i < times; i++) socket.send(Buffer.from(word))
      if (socket.readyState === WebSocket.OPEN) await Promise.race([answers(socket), once(socket, 'close')])
    }
    const known = await dialFrom(2, listener.port)
    await say(known, 'known', 1)
    const flood = await Promise.all([3, 3, 3, 3].map((last) => dialFrom(last, listener.port)))
    await Promise.all(flood.map((socket) => say(socket, 'again', 20)))
    await say(known, 'known', 20)
    await say(await dialFrom(4, listener.port), 'other', 1)
    expect(Object.fromEntries(heard)).toEqual({ known: 21, again: 8, other: 1 })
    await expect.poll(() => flood.map(({ readyState }) => readyState)).toEqual([3, 3, 3, 3])
  } finally {
    await listener.close()
  }
})

test('attack 453: through a proxy each caller has words of its own, and a token of a tunnel takes none', async () => {
  const heard: string[] = []
  const listening = (socket: WebSocket) =>
    // As a channel does: it may have been cut off for this very word.
    socket.on('message', (said) => void (socket.readyState === WebSocket.OPEN && heard.push(String(said))))
  const rules = { words: { atOnce: 2, perSecond: 1e-6 }, behindProxy: true }
  const listener = await listenWs({ host: '127.0.0.1', port: 0 }, listening, rules)
  const say = async (word: string, path: string, from: string, address = '127.0.0.1') => {
    const options = { headers: { 'x-forwarded-for': from }, localAddress: address }
    const socket = new WebSocket(`ws://127.0.0.1:${listener.port}${path}`, options)
    socket.on('error', () => {})
    await once(socket, 'open')
    socket.send(Buffer.from(word))
    await Promise.race([once(socket, 'close'), expect.poll(() => heard).toContain(word)])
    socket.terminate()
  }
  try {
    // Whatever the caller itself writes there comes before what the proxy does.
    for (const word of ['a', 'b', 'c', 'd']) await say(word, '/lease', `8.8.8.8, 203.0.113.9`)
    await say('honest', '/lease', '198.51.100.7')
    for (let i = 0; i < 5; i++) await say(`${i}`.repeat(32), '/tunnel', '203.0.113.9')
    expect(heard.filter((word) => word.length < 7)).toEqual(['a', 'b', 'honest'])
    expect(heard.filter((word) => word.length === 32)).toHaveLength(5)
    // Nobody else's word is taken for it.
    for (const word of ['e', 'f', 'g']) await say(word, '/lease', `198.51.100.${word}`, '127.0.0.2')
    expect(heard).not.toContain('g')
  } finally {
    await listener.close()
  }
})

const MUCH = Buffer.alloc(32 * 1024 * 1024)

test('attack 88: strangers who talk to keep their places give way all the same, also within one network', async () => {
  const talking = (_: WebSocket, __: string, seat: Seat) => seat.heard()
  const listener = await listenWs({ host: '127.0.0.1', port: 0 }, talking, { places: 8 })
  try {
    const sockets: WebSocket[] = []
    for (let i = 0; i < 3; i++) sockets.push(await dialFrom(2, listener.port))
    await expect.poll(() => sockets.map(({ readyState }) => readyState)).toEqual([3, 1, 1])
    await answers(sockets[2]!)
  } finally {
    await listener.close()
  }
})

test('attack 88: a server of pages drops who says nothing or does not read, and keeps who waits for an answer', async () => {
  const server = createServer(async (request, response) => {
    if (request.url === '/much') response.end(MUCH)
    else setTimeout(() => response.end('at last'), 300)
  })
  const seatOf = keepDoor(server, { places: 40, idleMs: null, mostBody: 0, firstWordMs: 1000, stalledMs: 100 })
  server.on('request', ({ socket }) => seatOf(socket).heard())
  server.listen(0, '127.0.0.1')
  servers.push(server)
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const silent = net.connect(port, '127.0.0.1').on('error', () => {})
  const deaf = net.connect(port, '127.0.0.1').on('error', () => {})
  deaf.write('GET /much HTTP/1.1\r\nhost: x\r\n\r\n')
  deaf.pause()
  expect(await (await fetch(`http://127.0.0.1:${port}/`, { headers: { connection: 'close' } })).text()).toBe('at last')
  await once(silent, 'close')
  await expect.poll(() => new Promise((resolve) => server.getConnections((_, count) => resolve(count)))).toBe(0)
  deaf.destroy()
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

const PING = 0x89
const PONG = 0x8a
const MANY = 10_000

/** Frames as a client masks them, with zeros; a server sends the same without a mask. */
const masked = (first: number, times = 1, bytes = 0): Buffer =>
  Buffer.concat(
    Array(times).fill(Buffer.concat([Buffer.of(first, 0x80 | bytes, 0, 0, 0, 0), Buffer.alloc(bytes, 'known')])),
  )

const HANDSHAKE = [
  'GET / HTTP/1.1',
  'Host: x',
  'Upgrade: websocket',
  'Connection: Upgrade',
  'Sec-WebSocket-Version: 13',
  'Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==',
].join('\r\n')

/** Whatever error comes before: who is cut off in the middle of a piece hears of one. */
const closing = (socket: net.Socket | WebSocket) => new Promise((resolve) => void socket.once('close', resolve))

/** A stranger with a program of its own, which shakes hands and then sends these bytes in one go; resolves when it is cut off. */
async function flood(port: number, bytes: Uint8Array, last = 1): Promise<void> {
  const socket = net.connect({ port, host: '127.0.0.1', localAddress: `127.0.0.${last}` }).on('error', () => {})
  socket.write(`${HANDSHAKE}\r\n\r\n`)
  await once(socket, 'data')
  const closed = closing(socket)
  socket.resume().write(bytes)
  await closed
}

/** Listens, and counts what of every kind is handled; whoever says `known` is. */
async function countingListener(rules: Parameters<typeof listenWs>[2] = {}, meet = (_: WebSocket): void => {}) {
  const handled = { ping: 0, pong: 0, message: 0 }
  const counting = (socket: WebSocket, _: string, seat: Seat): void => {
    for (const kind of ['ping', 'pong', 'message'] as const) socket.on(kind, () => void handled[kind]++)
    socket.on('message', (data) => String(data) === 'known' && seat.known('key'))
    meet(socket)
  }
  return { handled, listener: await listenWs({ host: '127.0.0.1', port: 0 }, counting, rules) }
}

test('attack 437: pings and pongs of strangers are words, of one network however many lines it has; of the rest nothing is read', async () => {
  const { handled, listener } = await countingListener({ words: { atOnce: 8, perSecond: 1e-6 } })
  try {
    for (const kind of [PING, PONG, PING]) await flood(listener.port, masked(kind, MANY), 2)
    // One each at which the line was cut.
    expect(handled.ping + handled.pong).toBe(8 + 3)
    await answers(await dialFrom(3, listener.port))
  } finally {
    await listener.close()
  }
})

test.each([
  ['pings', masked(PING, MANY)],
  ['pongs', masked(PONG, MANY)],
  ['empty messages', masked(0x82, MANY)],
  ['messages of one byte', masked(0x82, MANY, 1)],
  ['a message in as many parts', Buffer.concat([masked(0x02, 1, 1), masked(0x00, MANY, 1)])],
])(
  'attack 437: a known key that sends 10,000 frames (%s) is cut off, and of the rest nothing is read',
  async (_, frames) => {
    const { handled, listener } = await countingListener()
    try {
      await flood(listener.port, Buffer.concat([masked(0x82, 1, 5), frames]))
      expect(handled.ping + handled.pong).toBeLessThanOrEqual(65)
      expect(handled.message).toBeLessThanOrEqual(1002)
    } finally {
      await listener.close()
    }
  },
)

test.each([
  ['pings', PING],
  ['pongs', PONG],
])('attack 437: a provider that we dialled and that sends 10,000 %s is cut off as soon', async (_, kind) => {
  const url = await serverThatSends(Buffer.of(), Buffer.concat(Array(MANY).fill(Buffer.of(kind, 0))))
  const socket = await dialWs(url, MESSAGES, new AbortController().signal)
  let handled = 0
  for (const event of ['ping', 'pong']) socket.on(event, () => void handled++)
  const closed = closing(socket)
  socket.send('go on')
  await closed
  expect(handled).toBe(65)
})

test('attack 437: who is asked to go and sends pings instead is cut off all the same', async () => {
  const { handled, listener } = await countingListener({}, (socket) => socket.close())
  try {
    await flood(listener.port, Buffer.concat([masked(0x82, 1, 5), masked(PING, MANY)]))
    expect(handled.ping).toBe(65)
  } finally {
    await listener.close()
  }
})

test('attack 437: who does not read our answers is given no more of them', async () => {
  const listener = await listenWs({ host: '127.0.0.1', port: 0 }, (socket) => {
    socket.send(MUCH)
    const unread = socket.bufferedAmount
    socket.on('ping', () => grown.push(socket.bufferedAmount - unread))
  })
  const grown: number[] = []
  try {
    const deaf = await dialFrom(2, listener.port)
    deaf.pause()
    for (let i = 0; i < 10; i++) deaf.ping()
    await expect.poll(() => grown.length).toBe(10)
    expect(Math.max(...grown)).toBeLessThanOrEqual(0)
    deaf.terminate()
  } finally {
    await listener.close()
  }
})

const CHUNKS = '1\r\na\r\n'.repeat(MANY)

test.each([
  ['100 Continue', 'HTTP/1.1 100 Continue\r\n\r\n'.repeat(1000)],
  ['103 Early Hints', 'HTTP/1.1 103 Early Hints\r\n\r\n'.repeat(1000)],
  ['200 OK', `HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n${CHUNKS}`],
])('attack 437: a provider that answers %s, and goes on, is left at once', async (_, answer) => {
  const server = net.createServer((socket) => {
    socket.on('error', () => {})
    socket.once('data', () => socket.write(answer))
  })
  servers.push(server)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const url = `ws://127.0.0.1:${(server.address() as AddressInfo).port}`
  const read = vi.spyOn(IncomingMessage.prototype, 'push')
  try {
    const dialled = dialWs(url, MESSAGES, new AbortController().signal)
    await expect(dialled).rejects.toMatchObject({ detail: { code: 'NOT_REACHED' } })
    expect(read.mock.calls.length).toBeLessThan(10)
  } finally {
    read.mockRestore()
  }
})

test('attack 438: where WebSockets are expected, no body is read, whatever it says of itself', async () => {
  const { listener } = await countingListener()
  const read = vi.spyOn(IncomingMessage.prototype, 'push')
  try {
    for (const said of ['transfer-encoding: chunked', 'content-length: 60000']) {
      const socket = net.connect(listener.port, '127.0.0.1').on('error', () => {})
      socket.write(`POST / HTTP/1.1\r\nhost: x\r\n${said}\r\n\r\n${CHUNKS}`)
      await closing(socket.resume())
    }
    expect(read.mock.calls.length).toBeLessThan(10)
  } finally {
    read.mockRestore()
    await listener.close()
  }
})

test('attack 438: of one network so many connections are taken, and of others as many', async () => {
  const { listener } = await countingListener({ entries: { atOnce: 8, perSecond: 1e-6 } })
  try {
    const dialled = await Promise.allSettled(Array.from({ length: 20 }, () => dialFrom(2, listener.port)))
    expect(dialled.filter(({ status }) => status === 'fulfilled').length).toBe(8)
    await answers(await dialFrom(3, listener.port))
  } finally {
    await listener.close()
  }
})
