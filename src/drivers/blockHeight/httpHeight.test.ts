import { once } from 'node:events'
import { createServer, type RequestListener, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, expect, test } from 'vitest'
import { httpHeight } from './httpHeight.ts'

const servers: Server[] = []
afterEach(() => {
  for (const server of servers.splice(0)) {
    server.closeAllConnections()
    server.close()
  }
})

async function nodeThat(answers: RequestListener): Promise<string> {
  const server = createServer(answers)
  servers.push(server)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
}

const heightAt = (url: string) => httpHeight(url).height(new AbortController().signal)
const NO_HEIGHT = { detail: { code: 'NO_BLOCK_HEIGHT' } }

test('a height is a number, or a field of that name', async () => {
  expect(await heightAt(await nodeThat((_, answer) => answer.end('17')))).toBe(17)
  expect(await heightAt(await nodeThat((_, answer) => answer.end('{"height":18}')))).toBe(18)
  for (const wrong of ['', '-1', '1.5', '"17"', 'null', '{}'])
    await expect(heightAt(await nodeThat((_, answer) => answer.end(wrong)))).rejects.toMatchObject(NO_HEIGHT)
})

test('attack 109: an answer without end is cut off, not collected', async () => {
  let [written, closed] = [0, Promise.resolve<unknown>(null)]
  const url = await nodeThat((_, answer) => {
    closed = once(answer, 'close')
    const chunk = Buffer.alloc(64 * 1024, '1')
    const push = () => {
      do written += chunk.length
      while (written < 2 ** 28 && answer.write(chunk))
    }
    answer.on('drain', push)
    push()
  })
  await expect(heightAt(url)).rejects.toMatchObject(NO_HEIGHT)
  await closed
  // What the buffers of both ends hold, and no more.
  expect(written).toBeLessThan(2 ** 25)
})

test('attack 109: nobody sends us elsewhere', async () => {
  let asked = 0
  const elsewhere = await nodeThat((_, answer) => {
    asked++
    answer.end('17')
  })
  const url = await nodeThat((_, answer) => answer.writeHead(302, { location: elsewhere }).end())
  await expect(heightAt(url)).rejects.toMatchObject(NO_HEIGHT)
  expect(asked).toBe(0)
})
