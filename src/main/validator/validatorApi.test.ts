import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { readStatus, showStatus } from './validatorApi.ts'
import type { ValidatorConfig } from './validatorConfig.ts'

let answer = ''
const server = createServer((_, response) => response.end(answer))
beforeAll(async () => {
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
})
afterAll(async () => {
  server.closeAllConnections()
  await new Promise((done) => server.close(done))
})

const read = (text: string) => {
  answer = text
  const { port } = server.address() as AddressInfo
  return readStatus({ api: { host: '127.0.0.1', port } } as ValidatorConfig)
}
const round = {
  number: 7,
  openedAt: '2026-01-01T00:00:00.000Z',
  height: null,
  jobs: 2,
  done: 1,
  accepted: 1,
  rejected: 0,
}
const told = {
  program: 'touchstone 0.1.0',
  time: '2026-01-01T00:00:00.000Z',
  round,
  queue: { waiting: 1, leased: 0, done: 1, lagSeconds: 2 },
  boxes: 3,
  byStatus: { new: 3 },
  byClaimVerdict: {},
  resultsLastHour: 0,
}

test('what a validator says of itself is shown', async () => {
  expect(showStatus(await read(JSON.stringify(told)))).toMatch(/boxes {7}3 \(3 new\)\n(.*\n)*round {7}7, opened/)
  expect(showStatus(await read(JSON.stringify({ ...told, round: null })))).toContain('none yet')
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
  ['a program of megabytes', JSON.stringify({ ...told, program: 'x'.repeat(2_000_000) })],
])('%s from whoever holds the port is a fault with its own code', async (_, text) => {
  await expect(read(text)).rejects.toMatchObject({ detail: { code: 'NOT_A_VALIDATOR' }, blame: 'user' })
})
