import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { fetchFile } from './fetchFile.ts'

const never = new AbortController().signal
const ANSWERS: Readonly<Record<string, RequestListener>> = {
  '/file': (_, response) => response.end('hello'),
  '/here': (_, response) => response.writeHead(302, { location: '/file' }).end(),
  '/cloud': (_, response) => response.writeHead(302, { location: 'https://169.254.169.254/latest' }).end(),
  '/inside': (_, response) => response.writeHead(307, { location: 'https://10.1.2.3/' }).end(),
  '/mapped': (_, response) => response.writeHead(307, { location: 'https://[::ffff:127.0.0.1]/' }).end(),
  '/translated': (_, response) => response.writeHead(307, { location: 'https://[64:ff9b:1::a01:203]/' }).end(),
  '/embedded': (_, response) => response.writeHead(307, { location: 'https://[::127.0.0.1]/' }).end(),
  '/tunnelled': (_, response) => response.writeHead(307, { location: 'https://[2002:a01:203::1]/' }).end(),
  '/site': (_, response) => response.writeHead(307, { location: 'https://[fec0::1]/' }).end(),
  '/plain': (_, response) => response.writeHead(301, { location: 'http://203.0.113.7/' }).end(),
  '/file-scheme': (_, response) => response.writeHead(301, { location: 'file:///etc/passwd' }).end(),
  '/none': (_, response) => response.writeHead(404).end('no'),
  '/cut': (_, response) => {
    response.writeHead(200, { 'content-length': '100' })
    response.write('half')
    setImmediate(() => response.destroy())
  },
  '/endless': (_, response) => {
    const more = () => void (response.destroyed || response.write(Buffer.alloc(65536), more))
    more()
  },
  '/silent': () => {},
}
const server = createServer((request, response) => ANSWERS[request.url ?? '']?.(request, response))
let root: string
beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  root = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
})
afterAll(() => {
  server.closeAllConnections()
  server.close()
})

describe('fetchFile', () => {
  test('fetches from this machine over plain http', async () => {
    expect(Buffer.from((await fetchFile(`${root}/file`, 100, never)) as Uint8Array).toString()).toBe('hello')
  })

  test('tells the size of what is too large, and does not read on', async () => {
    expect(await fetchFile(`${root}/file`, 4, never)).toBe(5)
    expect(await fetchFile(`${root}/endless`, 1_000_000, never)).toBeGreaterThan(1_000_000)
  })

  const refused = { detail: { code: 'URL_REFUSED' } }
  test.each(['/here', '/cloud', '/inside', '/mapped', '/plain', '/file-scheme'])(
    'is not sent on by %s',
    async (path) => {
      await expect(fetchFile(root + path, 100, never)).rejects.toMatchObject(refused)
    },
  )

  test.each(['/translated', '/embedded', '/tunnelled', '/site'])(
    'attack 150: is not sent on to a private network by an address of IPv6 that leads there: %s',
    async (path) => {
      await expect(fetchFile(root + path, 100, never)).rejects.toMatchObject(refused)
    },
  )

  test.each([
    'ftp://127.0.0.1/x',
    'http://203.0.113.7/x',
    'http://0x7f000001.invalid/',
    'http://',
    'file:///etc/passwd',
  ])('does not ask %s at all', async (url) => {
    await expect(fetchFile(url, 100, never)).rejects.toMatchObject({ detail: { code: 'URL_REFUSED' } })
  })

  test.each(['/none', '/cut'])('says why %s could not be fetched', async (path) => {
    await expect(fetchFile(root + path, 1000, never)).rejects.toMatchObject({ detail: { code: 'NOT_FETCHED' } })
  })

  test('repeats no password', async () => {
    const url = root.replace('//', '//user:secret@')
    const refused = await fetchFile(`${url}/none`, 100, never).catch((error: Error) => error)
    expect(String((refused as Error).message)).not.toContain('secret')
  })

  test('ends when it is told to', async () => {
    const stop = new AbortController()
    const asked = fetchFile(`${root}/silent`, 100, stop.signal)
    server.once('request', () => stop.abort(new Error('enough')))
    await expect(asked).rejects.toThrow()
  })
})
