import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { afterAll, expect, onTestFinished, test } from 'vitest'
import { devnetGenesis } from '../../src/core/chain/devnetGenesis.ts'
import { genesisToJson } from '../../src/core/chain/genesisType.ts'
import { openVrf } from '../../src/drivers/sodium/openVrf.ts'
import { openCommandLine } from '../support/commandLine.ts'
import { commandsOn } from '../support/guide.ts'
import { NodeProcess } from '../support/nodeProcess.ts'
import { temporaryFolder } from '../support/temporaryFolder.ts'

const commands = openCommandLine(process.env)
afterAll(() => commands.close())
const run = async (...args: string[]) => {
  const { status, stdout } = await commands.run([
    'node',
    '--host',
    '127.0.0.1',
    '--no-discovery',
    '--no-api',
    '--json',
    ...args,
  ])
  return {
    code: status,
    error: JSON.parse(stdout.trim().split('\n').at(-1)!).error as { code: string; nextStep: string },
  }
}
const { vrf } = await openVrf()
const genesisFile = (folder: string, timeMs: number, more: object = {}) => {
  const file = join(folder, `genesis-${timeMs}.json`)
  const json = genesisToJson(devnetGenesis({ timeMs: BigInt(timeMs), authorities: 1 }, vrf))
  writeFileSync(file, JSON.stringify({ ...(json as object), ...more }))
  return file
}

test('docs/guides/node.md, command by command: a devnet with nothing to configure, joined by a second node', async () => {
  const [first, second, ...rest] = commandsOn('docs/guides/node.md')
  expect([first, second![0], rest]).toEqual([['node'], 'node', []])
  const data = join(temporaryFolder(), 'node')
  const node = new NodeProcess(['--data', data, '--port', '0'], true)
  onTestFinished(async () => void (await node.kill()))
  const here: Record<string, string> = {
    second: temporaryFolder(),
    '4041': '0',
    '127.0.0.1:4040': await node.address(),
  }
  const other = new NodeProcess(second!.slice(1).map((word) => here[word] ?? word))
  onTestFinished(async () => void (await other.kill()))
  await other.until(() => other.head > 0)
  const api = node.told.find(({ event }) => event === 'started')!.api
  expect(await (await fetch(`${api}/metrics`)).text()).toMatch(/touchstone_node_head_blocks [1-9]/)
  expect(await node.kill('SIGTERM')).toBe(0)
  const chain = join(data, 'chain')
  const refused = await run('--data', data, '--port', '0', '--genesis', genesisFile(temporaryFolder(), 1_000))
  expect(refused).toMatchObject({ code: 2, error: { code: 'ANOTHER_GENESIS' } })
  // A database that lost a file is called damaged, and is not begun anew.
  rmSync(join(chain, readdirSync(chain).find((name) => name.startsWith('MANIFEST'))!))
  expect(await run('--data', data, '--port', '0')).toMatchObject({ code: 2, error: { code: 'CHAIN_STORE_DAMAGED' } })
  expect(existsSync(join(data, 'genesis.json')) && readFileSync(join(data, 'account'), 'utf8')).toBe('devnet:0\n')
})

test('what cannot work is told with a code, a way out and exit code 2', async () => {
  const folder = temporaryFolder()
  const taken = createServer()
  await new Promise<void>((resolve) => taken.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void taken.close())
  const { port } = taken.address() as { port: number }
  const bad = join(folder, 'bad.json')
  writeFileSync(bad, '{')
  writeFileSync(join(folder, 'key'), 'no key')
  const fresh = () => ['--data', temporaryFolder(), '--port', '0']
  const cases: readonly (readonly [string, readonly string[]])[] = [
    ['NODE_PORT_IN_USE', ['--data', temporaryFolder(), '--port', String(port)]],
    ['BAD_GENESIS', [...fresh(), '--genesis', bad]],
    ['BAD_GENESIS', [...fresh(), '--genesis', join(folder, 'none.json')]],
    ['BAD_GENESIS', [...fresh(), '--genesis', genesisFile(folder, 5, { etas: [] })]],
    ['CHAIN_STOOD_STILL', [...fresh(), '--genesis', genesisFile(folder, 6)]],
    ['NODE_KEY_UNREADABLE', [...fresh(), '--key', join(folder, 'key')]],
    ['BAD_PEER_ADDRESS', [...fresh(), '--bootstrap', 'nowhere']],
  ]
  for (const [code, args] of cases) {
    const ended = await run(...args)
    expect([ended.code, ended.error.code]).toEqual([2, code])
    expect(ended.error.nextStep.length).toBeGreaterThan(20)
  }
})
