import { once } from 'node:events'
import type { Server } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { type HttpBindings, serve } from '@hono/node-server'
import { expect, test } from 'vitest'
import { storelessApi } from '../../../test/support/storelessApi.ts'
import { listenHttp } from '../../drivers/system/listenHttp.ts'
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

test('attack 193: requests sent ahead on a connection that is then cut give back their places', async () => {
  const whenSent: ApiDeps['whenSent'] = ({ env }, done) => (env as HttpBindings).outgoing.once('close', done)
  const door = await listenHttp({ host: '127.0.0.1', port: 0 })
  door.open(storelessApi({ whenSent }))
  const url = `http://127.0.0.1:${door.at.port}`
  const statusOf = async (path: string) => {
    const { status, body } = await fetch(`${url}${path}`)
    await body?.cancel()
    return status
  }
  const ahead = (path: string) => `GET ${path} HTTP/1.1\r\nhost: x\r\n\r\n`
  try {
    for (const [path, count, full] of [
      ['/v1/boxes', 8, 429],
      ['/v1/live', 50, 503],
    ] as const) {
      // Several connections, since Node stops reading one behind which too much waits.
      const sockets = Array.from({ length: 8 }, () => connect(door.at.port, '127.0.0.1'))
      // The first is never answered to its end, and the others wait behind it.
      for (const socket of sockets) socket.write(ahead('/v1/live') + ahead(path).repeat(count))
      await expect.poll(() => statusOf(path), { timeout: 20_000 }).toBe(full)
      for (const socket of sockets) socket.destroy()
      await expect.poll(() => statusOf(path), { timeout: 20_000 }).toBe(200)
    }
  } finally {
    await door.close()
  }
})
