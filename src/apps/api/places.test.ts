import { once } from 'node:events'
import { Agent, get, IncomingMessage, type Server } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { type HttpBindings, serve } from '@hono/node-server'
import { expect, test, vi } from 'vitest'
import { storelessApi } from '../../../test/support/storelessApi.ts'
import { listenHttp } from '../../drivers/system/listenHttp.ts'
import type { Store } from '../../ports/store.ts'
import { createLiveRuns } from '../shared/createLiveRuns.ts'
import type { ApiDeps } from './apiDeps.ts'

test('attacks 89 and 110: answers that nobody takes hold their places: eight of one asker, 32 in all, then 429 and 503 with a time', async () => {
  let who = 'x'
  const untaken: (() => void)[] = []
  const api = storelessApi({ clientOf: () => who, whenSent: (_, done) => untaken.push(done) })
  const read = async (path = '/v1/boxes') => {
    const response = await api.request(path)
    const { error } = (await response.json()) as { error?: { code: string } }
    return [response.status, error?.code, response.headers.get('retry-after')]
  }
  for (let i = 0; i < 8; i++) expect(await read()).toEqual([200, undefined, null])
  expect(await read()).toEqual([429, 'TOO_MANY_AT_ONCE', '1'])
  expect((await api.request('/v1/boxes', { method: 'HEAD' })).status).toBe(429)
  for (const client of ['y', 'z', 'w'])
    for (let i = 0; i < 8; i++) {
      who = client
      expect((await read())[0]).toBe(200)
    }
  who = 'late'
  expect(await read()).toEqual([503, 'TOO_BUSY', '1'])
  for (const path of ['/health', '/v1/status', '/v1/statistics']) expect((await read(path))[0]).toBe(200)
  for (const done of untaken) done()
  untaken[0]!()
  expect((await read())[0]).toBe(200)
})

test('an answer that was taken over a real socket gives its place back', async () => {
  const whenSent: ApiDeps['whenSent'] = ({ env }, done) => (env as HttpBindings).outgoing.once('close', done)
  const server = serve({ fetch: storelessApi({ whenSent }).fetch, hostname: '127.0.0.1', port: 0 })
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  for (let i = 0; i < 20; i++) {
    const response = await fetch(`http://127.0.0.1:${port}/v1/boxes`)
    expect(response.status).toBe(200)
    await response.text()
  }
  ;(server as Server).closeAllConnections()
  await new Promise((done) => server.close(done))
})

test('live runs arrive over a real socket, and a watcher that leaves is let go', async () => {
  const live = createLiveRuns()
  const server = serve({ fetch: storelessApi({ live }).fetch, hostname: '127.0.0.1', port: 0 })
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const leave = new AbortController()
  const response = await fetch(`http://127.0.0.1:${port}/v1/live`, { signal: leave.signal })
  const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader()
  expect((await reader.read()).value).toContain('event: hello')
  live.publish({ type: 'started', boxId: 'a', round: 7, kind: 'full' })
  expect((await reader.read()).value).toContain('data: {"type":"started","boxId":"a","round":7,"kind":"full"}')
  leave.abort()
  await reader.closed.catch(() => {})
  expect((await fetch(`http://127.0.0.1:${port}/health`)).status).toBe(200)
  ;(server as Server).closeAllConnections()
  await new Promise((done) => server.close(done))
})

test('attack 271: what all boxes of a window tell at once is one write to each who watches', async () => {
  const live = createLiveRuns()
  const api = storelessApi({ live })
  const readers = await Promise.all(
    Array.from({ length: 20 }, async () => (await api.request('/v1/live')).body!.getReader()),
  )
  for (const reader of readers) expect(Buffer.from((await reader.read()).value!).toString()).toContain('event: hello')
  for (let box = 0; box < 256; box++) live.publish({ type: 'started', boxId: `box-${box}`, round: 7, kind: 'full' })
  for (const reader of readers) {
    const told = Buffer.from((await reader.read()).value!).toString()
    const boxes = [...told.matchAll(/^event: started\ndata: (.*)\n\n/gm)].map(([, data]) => JSON.parse(data!).boxId)
    expect(boxes).toEqual(Array.from({ length: 256 }, (_, box) => `box-${box}`))
    await reader.cancel()
  }
})

test('asking only for the head of the live page takes no place, and one address cannot take every place', async () => {
  let who = 'x'
  const api = storelessApi({ clientOf: () => who })
  const opened: Response[] = []
  const watch = async () => {
    const response = await api.request('/v1/live')
    if (response.status === 200) opened.push(response)
    return response.status
  }
  for (let i = 0; i < 201; i++) expect((await api.request('/v1/live', { method: 'HEAD' })).status).toBe(200)
  for (let i = 0; i < 50; i++) expect(await watch()).toBe(200)
  expect(await watch()).toBe(503)
  who = 'y'
  expect(await watch()).toBe(200)
  await Promise.all(opened.map((response) => response.body!.cancel()))
  who = 'x'
  expect(await watch()).toBe(200)
  await opened.at(-1)!.body!.cancel()
})

test('attacks 193 and 273: a connection has one request at a time, and what is sent ahead of an answer takes no place and no time', async () => {
  const asked: string[] = []
  const api = storelessApi()
  const door = await listenHttp({ host: '127.0.0.1', port: 0 })
  door.open({
    fetch: (request, env) => {
      asked.push(new URL(request.url).pathname)
      return api.fetch(request, env)
    },
  })
  const line = (path: string) => `GET ${path} HTTP/1.1\r\nhost: x\r\n\r\n`
  try {
    const many = connect(door.at.port, '127.0.0.1').end(line('/v1/boxes').repeat(1000))
    expect((await many.toArray()).join('')).toMatch(/^HTTP\/1.1 400 /)
    expect(asked).toEqual([])
    // One that is never answered to its end, and one behind it.
    const two = connect(door.at.port, '127.0.0.1')
    two.write(line('/v1/live'))
    await once(two, 'data')
    two.write(line('/v1/boxes'))
    await once(two, 'close')
    expect(asked).toEqual(['/v1/live'])
  } finally {
    await door.close()
  }
})

test.each([
  ['chunks of one byte', 'transfer-encoding: chunked', /^HTTP\/1.1 411 .*LENGTH_REQUIRED.*nextStep/s],
  ['more than any route takes', 'content-length: 1000000000', /^HTTP\/1.1 413 .*TOO_LARGE.*nextStep/s],
  ['chunks, and a wish that we do not know', 'transfer-encoding: chunked\r\nexpect: x', /^$/],
])('attack 438: a body of %s is refused at the door, and nothing of it is read', async (_, said, told) => {
  let asked = 0
  const door = await listenHttp({ host: '127.0.0.1', port: 0 })
  door.open({
    fetch: () => {
      asked++
      return new Response('x')
    },
  })
  const read = vi.spyOn(IncomingMessage.prototype, 'push')
  try {
    const endless = connect(door.at.port, '127.0.0.1').on('error', () => {})
    endless.write(`POST /health HTTP/1.1\r\nhost: x\r\n${said}\r\n\r\n${'1\r\na\r\n'.repeat(5000)}`)
    let answer = ''
    for await (const piece of endless) answer += String(piece)
    expect(answer).toMatch(told)
    expect(asked).toBe(0)
    expect(read.mock.calls.length).toBeLessThan(10)
    const honest = { method: 'POST', body: 'a'.repeat(60_000) }
    expect((await fetch(`http://127.0.0.1:${door.at.port}/health`, honest)).status).toBe(200)
  } finally {
    read.mockRestore()
    await door.close()
  }
})

test('attack 438: who asks more often than it may is told so, and must dial again', async () => {
  const door = await listenHttp({ host: '127.0.0.1', port: 0 })
  door.open(storelessApi({ requestsPerMinute: 4 }))
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  const ask = () =>
    new Promise((resolve, reject) => {
      const asking = get({ ...door.at, agent, path: '/v1/status' }, (answer) => {
        answer.resume().once('end', () => resolve([answer.statusCode, asking.reusedSocket]))
      }).on('error', reject)
    })
  try {
    const told = [await ask(), await ask(), await ask(), await ask()]
    expect(told).toEqual([
      [200, false],
      [429, true],
      [429, false],
      [429, false],
    ])
  } finally {
    agent.destroy()
    await door.close()
  }
})

test('attack 250: of a certificate no more is read than its reader takes', async () => {
  let read = 0
  const file = async function* () {
    for (; read < 1000; read++) yield new Uint8Array(65_536)
  }
  const store = { certificate: async () => file() } as Partial<Store> as Store
  const response = await storelessApi({ store }).request(`/v1/certificates/${'ab'.repeat(16)}`)
  const reader = response.body!.getReader()
  await reader.read()
  expect(read).toBeLessThan(10)
  await reader.cancel()
  expect(read).toBeLessThan(10)
})
