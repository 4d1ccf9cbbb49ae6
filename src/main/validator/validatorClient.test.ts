import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { testSigner } from '../../../test/support/testSigner.ts'
import { routes } from '../../apps/api/routes.ts'
import { ask, readBoxes } from './validatorClient.ts'
import type { ValidatorConfig } from './validatorConfig.ts'

let answer: (path: string) => readonly [number, string] = () => [200, '']
const asked: string[] = []
const server = createServer((request, response) => {
  asked.push(`${request.method} ${request.url}`)
  const [status, text] = answer(request.url ?? '')
  response.writeHead(status).end(text)
})
let config: Pick<ValidatorConfig, 'api'>
beforeAll(async () => {
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  config = { api: { host: '127.0.0.1', port } } as ValidatorConfig
})
afterAll(async () => {
  server.closeAllConnections()
  await new Promise((done) => server.close(done))
})

const read = (text: string, status = 200) => {
  answer = () => [status, text]
  return ask(routes.getStatus, {}, { config })
}
const told = {
  program: 'touchstone 0.1.0',
  time: '2026-01-01T00:00:00.000Z',
  round: null,
  queue: { waiting: 1, held: 0, done: 1, lagSeconds: 2 },
  boxes: 3,
  byStatus: { new: 3 },
  byClaimVerdict: {},
  resultsLastHour: 0,
}

test('an answer is read by the schema of its route; what a newer validator adds is left out', async () => {
  expect(await read(JSON.stringify({ ...told, more: 1 }))).toEqual(told)
})

test.each([
  ['no JSON', '<html>'],
  ['null', 'null'],
  ['a list', '[]'],
  ['nothing', ''],
  ['a queue that is none', JSON.stringify({ ...told, queue: null })],
  ['a lag of text', JSON.stringify({ ...told, queue: { ...told.queue, lagSeconds: '2' } })],
  ['a round of text', JSON.stringify({ ...told, round: 'seven' })],
  ['counts of objects', JSON.stringify({ ...told, byStatus: { new: {} } })],
  ['a program of megabytes', JSON.stringify({ ...told, program: 'x'.repeat(5_000_000) })],
])('%s from whoever holds the port is a fault with its own code', async (_, text) => {
  await expect(read(text)).rejects.toMatchObject({ detail: { code: 'NOT_A_VALIDATOR' }, blame: 'user' })
})

describe('a validator that runs and refuses', () => {
  const problem = (code: string) => JSON.stringify({ error: { code, message: 'so it is', nextStep: 'Do this.' } })

  test('because its store is away is not taken for one that does not run', async () => {
    await expect(read(problem('STORE_UNAVAILABLE'), 503)).rejects.toMatchObject({
      detail: { code: 'STORE_AWAY' },
      retry: true,
    })
  })

  test('hands on its own reason and next step', async () => {
    await expect(read(problem('UNKNOWN_KEY'), 401)).rejects.toMatchObject({
      detail: { code: 'VALIDATOR_REFUSED', said: 'UNKNOWN_KEY' },
      message: expect.stringContaining('so it is (UNKNOWN_KEY)'),
      nextStep: 'Do this.',
    })
    await expect(read('gone', 502)).rejects.toMatchObject({ detail: { code: 'NOT_A_VALIDATOR' } })
  })

  test('or does not answer at all', async () => {
    const nobody = { api: { host: '127.0.0.1', port: 1 } } as ValidatorConfig
    await expect(ask(routes.getStatus, {}, { config: nobody })).rejects.toMatchObject({
      detail: { code: 'VALIDATOR_NOT_RUNNING' },
    })
  })
})

test('parameters, query and body go where the route has them', async () => {
  asked.length = 0
  answer = () => [200, '{"done":true}']
  const signer = testSigner(1)
  await ask(routes.setAllocation, { params: { id: 'a.b' }, body: { allocated: true } }, { config, signer })
  answer = () => [200, '{"items":[],"next":null}']
  await readBoxes({ status: 'failed', provider: 'a&b' }, { config })
  expect(asked).toEqual(['POST /v1/boxes/a.b/allocation', 'GET /v1/boxes?status=failed&provider=a%26b&limit=200'])
})

test('pages that lead nowhere are not followed for ever', async () => {
  asked.length = 0
  answer = () => [200, '{"items":[],"next":"z"}']
  expect(await readBoxes({}, { config })).toEqual([])
  expect(asked).toHaveLength(1)
})

test('a client is typed by the routes: what does not fit one does not compile', () => {
  const to = { config }
  const calls = [
    () => ask(routes.getBox, { params: { id: 'a' } }, to).then(({ scoreNow }) => scoreNow satisfies number),
    // @ts-expect-error a box has an id
    () => ask(routes.getBox, {}, to),
    // @ts-expect-error there is no such status
    () => ask(routes.listBoxes, { query: { status: 'fine' } }, to),
    // @ts-expect-error it is a boolean
    () => ask(routes.setAllocation, { params: { id: 'a' }, body: { allocated: 1 } }, to),
    // @ts-expect-error a health has no rows
    () => ask(routes.getHealth, {}, to).then(({ rows }) => rows),
  ]
  // "npm run types" is what can fail here.
  expect(calls).toHaveLength(5)
})
