import { once } from 'node:events'
import { createServer as createHttp } from 'node:http'
import { connect, createServer, type Socket } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { Worker } from 'node:worker_threads'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { dialStamped, listenStamped, type StampedSocket } from './stampedSocket.ts'
import { systemClock } from './systemClock.ts'

const never = new AbortController().signal

/** A box in a thread of its own, which writes a byte every 20 ms and says so in it. */
const TICKING = `
const { createServer } = require('node:net')
const { parentPort } = require('node:worker_threads')
createServer((socket) => {
  socket.on('error', () => {})
  let count = 0
  const timer = setInterval(() => socket.write(Uint8Array.of(count++)), 20)
  socket.on('close', () => clearInterval(timer))
}).listen(0, '127.0.0.1', function () { parentPort.postMessage(this.address().port) })
`
let box: Worker
let boxPort: number

const server = createServer({ allowHalfOpen: true })
const accepted = async (): Promise<Socket> => (await once(server, 'connection'))[0]
const here = () => ({ host: '127.0.0.1', port: (server.address() as { port: number }).port })

beforeAll(async () => {
  box = new Worker(TICKING, { eval: true, execArgv: [] })
  ;[boxPort] = await once(box, 'message')
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
})
afterAll(async () => {
  server.close()
  await box.terminate()
})

test('attack 447: bytes are stamped when they come, however busy the thread is that reads them', async () => {
  const socket = await dialStamped({ host: '127.0.0.1', port: boxPort }, never)
  const cameUs: number[] = []
  socket.on('data', (piece: Buffer) => {
    for (const _ of piece) cameUs.push(socket.cameUs)
  })
  await vi.waitFor(() => expect(cameUs.length).toBeGreaterThan(2))
  const fromUs = systemClock.monotonicUs()
  while (systemClock.monotonicUs() < fromUs + 500_000) {}
  const toUs = systemClock.monotonicUs()
  const before = cameUs.length
  await vi.waitFor(() => expect(cameUs.length).toBeGreaterThan(before + 10))
  const meanwhile = cameUs.filter((us) => us > fromUs && us < toUs)
  // Read one by one at its end, they would all have come then.
  expect(meanwhile.length).toBeGreaterThan(5)
  expect(Math.min(...meanwhile)).toBeLessThan(fromUs + 250_000)
  socket.destroy()
})

test('what is written arrives, and an end is told on either side', async () => {
  const [socket, there] = await Promise.all([dialStamped(here(), never), accepted()])
  const heard: Buffer[] = []
  there.on('data', (piece) => heard.push(piece))
  const large = Buffer.alloc(3_000_000, 7)
  for (let at = 0; at < large.length; at += 32_768) socket.write(large.subarray(at, at + 32_768))
  socket.end('!')
  await once(there, 'end')
  expect(Buffer.concat(heard).equals(Buffer.concat([large, Buffer.from('!')]))).toBe(true)
  socket.resume()
  there.end('bye')
  await Promise.all([once(socket, 'end'), once(socket, 'close')])
})

test('whoever does not read makes the other side wait, and loses nothing', async () => {
  const [socket, there] = await Promise.all([dialStamped(here(), never), accepted()])
  const piece = Buffer.alloc(65_536, 1)
  let sent = 0
  const write = () => {
    while (sent < 64 * 2 ** 20) {
      sent += piece.length
      if (!there.write(piece)) return there.once('drain', write)
    }
    return there.end()
  }
  write()
  await delay(300)
  expect(sent).toBeLessThan(48 * 2 ** 20)
  let got = 0
  for await (const chunk of socket) got += (chunk as Buffer).length
  expect(got).toBe(64 * 2 ** 20)
})

test('where nobody listens the error of the system is told, and an abort ends the wait', async () => {
  const gone = createServer().listen(0, '127.0.0.1')
  await once(gone, 'listening')
  const { port } = gone.address() as { port: number }
  gone.close()
  await expect(dialStamped({ host: '127.0.0.1', port }, never)).rejects.toMatchObject({ code: 'ECONNREFUSED' })
  await expect(dialStamped({ host: 'no.such.host.invalid', port }, never)).rejects.toHaveProperty('code')
  const stop = new AbortController()
  const dialling = dialStamped(here(), stop.signal)
  stop.abort(new Error('enough'))
  await expect(dialling).rejects.toThrow('enough')
})

test('whoever dials in is heard from the first byte on, and a port that is taken is told', async () => {
  const callers: StampedSocket[] = []
  const door = await listenStamped({ host: '127.0.0.1', port: 0 }, (socket) => void callers.push(socket))
  const there = connect(door.port, '127.0.0.1')
  there.write('hello')
  await vi.waitFor(() => expect(callers).toHaveLength(1))
  const [caller] = callers as [StampedSocket]
  expect(caller.remoteAddress).toBe('127.0.0.1')
  expect(String((await once(caller, 'data'))[0])).toBe('hello')
  caller.end('good day')
  expect(String((await once(there, 'data'))[0])).toBe('good day')
  const taken = listenStamped({ host: '127.0.0.1', port: door.port }, () => {})
  await expect(taken).rejects.toMatchObject({ code: 'EADDRINUSE' })
  there.destroy()
  door.close()
})

test('a server for HTTP can be put behind it', async () => {
  const http = createHttp((request, response) => response.end(`${request.method} ${request.socket.remoteAddress}`))
  const door = await listenStamped({ host: '127.0.0.1', port: 0 }, (socket) => http.emit('connection', socket))
  const answer = await fetch(`http://127.0.0.1:${door.port}/`, { headers: { connection: 'close' } })
  expect(await answer.text()).toBe('GET 127.0.0.1')
  door.close()
})
