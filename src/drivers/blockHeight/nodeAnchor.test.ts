import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import type { Clock } from '../../ports/clock.ts'
import type { Log } from '../../ports/log.ts'
import { nodeAnchor } from './nodeAnchor.ts'

/** A node that answers so, asked once each time `look` is called. */
async function anchorAt(answers: RequestListener) {
  const server = createServer((request, response) => answers(request, response))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const stop = new AbortController()
  let [nowUs, wake, asleep] = [0, () => {}, () => {}]
  let slept = new Promise<void>((resolve) => {
    asleep = resolve
  })
  const clock: Clock = {
    monotonicUs: () => nowUs,
    wallTime: () => new Date(0),
    sleep: (_, signal) =>
      new Promise((resolve, reject) => {
        wake = resolve
        signal.addEventListener('abort', () => reject(signal.reason))
        asleep()
      }),
  }
  const said: string[] = []
  const say = (message: string) => void said.push(message)
  const log: Log = { debug: say, info: say, warn: say, error: say }
  const { anchor, done } = nodeAnchor(
    `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    { clock, log },
    stop.signal,
  )
  onTestFinished(async () => {
    stop.abort()
    await done
    server.closeAllConnections()
    server.close()
  })
  await slept
  const look = async (afterMs = 5_000) => {
    nowUs += afterMs * 1000
    slept = new Promise<void>((resolve) => {
      asleep = resolve
    })
    wake()
    await slept
  }
  const pass = (ms: number): void => {
    nowUs += ms * 1000
  }
  return { anchor, look, said, pass }
}

const told = (height: number) =>
  JSON.stringify({ genesis: 'ab'.repeat(32), final: { id: height.toString(16).padStart(64, '0'), height }, more: 1 })

test('the latest final block is at hand, follows the node, and is forgotten when it is old', async () => {
  let height = 7
  const { anchor, look, pass } = await anchorAt((_, response) => response.end(told(height)))
  expect(anchor.latest()).toMatchObject({ chain: `ts1/${'ab'.repeat(32)}`, height: 7 })
  height = 8
  await look()
  expect(anchor.latest()).toMatchObject({ height: 8, hash: Uint8Array.from([...new Uint8Array(31), 8]) })
  pass(121_000)
  expect(anchor.latest()).toBeNull()
})

test('a node that is away, lies in form or answers without end ties nothing, and is told once', async () => {
  let answer = told(7)
  const { anchor, look, said, pass } = await anchorAt((_, response) => response.end(answer))
  for (answer of ['', '{}', '[]', told(7).replace('7', '"7"'), told(7).replace('ab', 'AB'), `"${'x'.repeat(2 ** 20)}"`])
    await look()
  expect(said).toEqual(['no final block to tie runs to; they go on without'])
  expect(anchor.latest()).toMatchObject({ height: 7 })
  pass(121_000)
  expect(anchor.latest()).toBeNull()
  answer = told(9)
  await look()
  expect([anchor.latest()?.height, said.at(-1)]).toEqual([9, 'runs are tied to the chain again'])
})
