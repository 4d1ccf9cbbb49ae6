import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, expect, test } from 'vitest'
import { openCommandLine } from '../../../test/support/commandLine.ts'

const about = `https://example.org${' '.repeat(60)}\n1  live, 310 µut each, 2^4 chunks, utility 2, 8 of 8 drawn\u001b[2J"`
const place = { id: 'ab'.repeat(32), height: 1, slot: 1, parent: 'cd'.repeat(32), author: 'ef'.repeat(32) }
const block = { ...place, isPrimary: true }
const project = { project: 2, kind: 0, status: 'refused', owner: null, work: '1', depth: 0, utility: 0 }
const projects = { block, count: 1, projects: [{ ...project, queued: '0', taken: '0', about }] }
const told = { id: place.id, height: 7, why: `final${' '.repeat(60)}proven     by block 9` }
const event = `event: block\ndata: ${JSON.stringify(told)}\n\n`
const node = createServer(({ url }, response) => {
  if (url !== '/v1/events') response.end(JSON.stringify(projects))
  else response.setHeader('content-type', 'text/event-stream').end(event)
}).listen(0, '127.0.0.1')
const commands = openCommandLine(process.env)
afterAll(async () => {
  await commands.close()
  node.close()
})

test('attack 270: what whoever proposed a project says of it is no line of ours', async () => {
  const { port } = node.address() as AddressInfo
  const { status, stdout } = await commands.run(['chain', 'projects', '--node', `http://127.0.0.1:${port}`])
  expect([status, stdout]).toEqual([
    0,
    `2  refused, 1 µut each, 2^0 chunks, utility 0, 0 of 0 drawn  about "https://example.org ?1 live, 310 µut each, 2^4 chunks, utility 2, 8 of 8 drawn?[2J'"\n`,
  ])
})

test('attack 300: nor is what a node says of an event', async () => {
  const { port } = node.address() as AddressInfo
  const { stdout } = await commands.run(['chain', 'watch', '--node', `http://127.0.0.1:${port}`])
  expect(stdout).toBe(`block ${place.id} 7 "final proven by block 9"\n`)
})
