import { once } from 'node:events'
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { afterEach, expect, test } from 'vitest'
import { askHttp } from './askHttp.ts'

let server: Server | undefined
afterEach(() => void server?.close())

const never = new AbortController().signal

async function listening(answers: (socket: Socket) => void): Promise<string> {
  server = createServer(answers).listen(0, '127.0.0.1')
  await once(server, 'listening')
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
}

/** What is made of these bytes, with which somebody answers and leaves. */
async function toldBy(answer: string) {
  const url = await listening((socket) => {
    socket.on('error', () => {})
    socket.once('data', () => socket.end(answer))
  })
  return await askHttp(url, { mostBytes: 20, limitMs: 5_000 }, never)
}

const head = (...fields: string[]) => `HTTP/1.1 200 OK\r\n${fields.map((field) => `${field}\r\n`).join('')}\r\n`

test('an answer is its status and its text; what is too long has none', async () => {
  expect(await toldBy(`${head('content-length: 5')}hello`)).toEqual({ status: 200, text: 'hello' })
  expect(await toldBy(`${head()}${'x'.repeat(21)}`)).toEqual({ status: 200, text: null })
  expect(await toldBy('HTTP/1.1 302 Found\r\nlocation: /\r\n\r\n')).toEqual({ status: 302, text: '' })
})

test('attack 296: whoever answers with another protocol has not answered', async () => {
  const upgrade = 'HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: x\r\n\r\n'
  await expect(toldBy(upgrade)).rejects.toThrow('it answers 101')
})

test.each(['gzip', 'br', 'deflate', Array(7).fill('gzip').join(', ')])(
  'attacks 297 and 298: what is said to be %s is not unpacked, and comes or fails at once',
  async (encoding) => {
    expect(await toldBy(`${head(`content-encoding: ${encoding}`)}junk`)).toMatchObject({ text: 'junk' })
    const cut = `${head(`content-encoding: ${encoding}`, 'content-length: 9')}junk`
    await expect(toldBy(cut)).rejects.toMatchObject({ code: 'ECONNRESET' })
  },
)

test.each(['', head()])(
  'attack 313: whoever falls silent after %j is given up, whatever is collected meanwhile',
  async (said) => {
    setFlagsFromString('--expose-gc')
    const collect: () => void = runInNewContext('gc')
    const collecting = setInterval(collect, 20)
    const url = await listening((socket) => {
      socket.on('error', () => {})
      socket.write(said)
    })
    const asked = askHttp(url, { mostBytes: 20, limitMs: 150 }, never)
    await expect(asked.finally(() => clearInterval(collecting))).rejects.toMatchObject({ name: 'AbortError' })
  },
)
