import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { toHex } from '../../src/core/bytes/hex.ts'
import { sha256 } from '../../src/core/bytes/sha256.ts'
import { devnetGenesis } from '../../src/core/chain/devnetGenesis.ts'
import { genesisToJson } from '../../src/core/chain/genesisType.ts'
import { openVrf } from '../../src/drivers/sodium/openVrf.ts'
import { openCommandLine } from '../support/commandLine.ts'
import { commandsOn } from '../support/guide.ts'
import { NodeProcess } from '../support/nodeProcess.ts'
import { temporaryFolder } from '../support/temporaryFolder.ts'

type Told = Readonly<Record<string, never>>

/** A work an epoch, so that a busy machine is in time, and boot weight that some of them reach. */
const PARAMS = { slotMs: 500n, tasksPerEpoch: 1n, bootWeight: 400n }

async function openWorld() {
  const home = temporaryFolder()
  const { vrf } = await openVrf()
  const genesis = devnetGenesis({ timeMs: BigInt(Date.now() + 3_000), authorities: 1, params: PARAMS }, vrf)
  const file = join(home, 'genesis.json')
  writeFileSync(file, JSON.stringify(genesisToJson(genesis)))
  const line = openCommandLine({ ...process.env, TOUCHSTONE_HOME: home, NO_COLOR: '1' })
  const nodes: NodeProcess[] = []
  onTestFinished(async () => {
    await line.close()
    await Promise.all(nodes.map((node) => node.kill()))
  })
  /** As the guide types it, but for folders and ports of the test, and its genesis. */
  const start = async (words: readonly string[]) => {
    const data = words.includes('--data') ? words[words.indexOf('--data') + 1]! : 'node'
    const isFirst = nodes.length === 0
    const joins = isFirst ? ['--key', 'devnet:0'] : ['--bootstrap', await nodes[0]!.address()]
    const own = words.filter((word) => word === '--drill')
    nodes.push(new NodeProcess([...own, '--data', join(home, data), '--port', '0', '--genesis', file, ...joins], true))
    await nodes.at(-1)!.address()
  }
  const run = async (words: readonly string[]) => {
    const url = nodes[0]!.told.find(({ event }) => event === 'started')!.api
    return await line.run([...words, '--node', url])
  }
  const asked = async (...words: string[]) => {
    const { status, stdout, stderr } = await run([...words, '--json'])
    if (status !== 0) throw new Error(stderr)
    return JSON.parse(stdout) as Told
  }
  /** Until it is final: on a busy machine its time may pass before a block takes it. */
  const say = async (words: readonly string[]) => {
    for (;;) {
      const { status, stderr } = await run([...words, '--wait'])
      if (status === 0) return
      expect(stderr).toContain('TX_EXPIRED')
    }
  }
  /** With every new block until it is so. */
  const until = async <T>(look: () => Promise<T | null | undefined | false>): Promise<T> => {
    for (;;) {
      const found = await look()
      if (found) return found
      const { head } = nodes[0]!
      await nodes[0]!.until(() => nodes[0]!.head > head)
    }
  }
  return { home, nodes, start, run, say, asked, until }
}

const authorOf = (node: NodeProcess) =>
  node.told.flatMap((told) => (told.event === 'head' ? [Reflect.get(told, 'author')] : []))
const accountOf = (node: NodeProcess) =>
  String(Reflect.get(node.told.find(({ event }) => event === 'started')!, 'account'))

test('docs/guides/drilling.md: three that join drill by themselves, a project has works done, and drilled weight wins blocks', async () => {
  const commands = commandsOn('docs/guides/drilling.md')
  expect(commands.map(([name, sub]) => (name === 'node' ? name : `${name} ${sub}`))).toEqual([
    ...['node', 'node', 'node', 'node', 'chain works', 'chain work', 'chain account'],
    ...['project new', 'project vote', 'project publish', 'chain projects'],
  ])
  const world = await openWorld()
  for (const words of commands.slice(0, 4)) await world.start(words)
  const [, ...drillers] = world.nodes
  const accounts = drillers.map(accountOf)
  expect(new Set(accounts).size).toBe(3)

  const [works, work, account, propose, vote, publish, projects] = commands.slice(4) as string[][]
  const statusOf = async (number: number) => {
    const { projects: listed } = (await world.asked('chain', 'projects', '--at', 'head')) as unknown as {
      projects: { status: string; taken: string }[]
    }
    return listed[number]
  }
  await world.say(propose!)
  await world.say(vote!)
  await world.until(async () => (await statusOf(1))!.status === 'live')
  await world.say(publish!)

  const listed = await world.until(async () => {
    const { works: all } = (await world.asked('chain', 'works')) as unknown as { works: { id: string }[] }
    return all[0]
  })
  expect((await world.run(works!)).stdout).toMatch(
    /^\d+ under way at block \d+\n[0-9a-f]{64} {2}project [01], 310 µut, /,
  )
  expect((await world.run(work!.map((word) => word.replace('ID', listed.id)))).stdout).toContain('drawn: ')

  await world.until(async () => authorOf(world.nodes[0]!).some((author) => accounts.includes(author as never)))
  for (const key of accounts) {
    const { told } = (await world.asked('chain', 'account', key, '--at', 'head')) as unknown as {
      told: { drilledTotal: string }
    }
    expect(BigInt(told.drilledTotal)).toBeGreaterThan(0n)
  }
  const shown = await world.run(account!.map((word) => word.replace('KEY', accounts[0]!)))
  expect(shown.stdout).toMatch(/^account +[0-9a-f]{64}\n(.*\n)*drilled +\d+ µut in all, /)
  await world.until(async () => (await statusOf(1))!.taken === '2')
  expect((await world.run(projects!)).stdout).toMatch(/^1 {2}live, 310 µut each, 2\^4 chunks, utility 1, 2 of 2 drawn/m)

  // The hash of each record is in a block, and the validator has the record.
  const records = readdirSync(join(world.home, 'node', 'checks'))
  for (const name of records)
    expect(`${toHex(sha256(readFileSync(join(world.home, 'node', 'checks', name))))}.json`).toBe(name)
  const { box } = JSON.parse(readFileSync(join(world.home, 'node', 'checks', records.at(-1)!), 'utf8')) as {
    box: string
  }
  const { told } = (await world.asked('chain', 'score', box)) as unknown as {
    told: { reports: { certificate: string }[] }
  }
  expect(records).toContain(`${told.reports[0]!.certificate}.json`)
  expect(world.nodes.flatMap(({ told }) => told.filter(({ event }) => event === 'error'))).toEqual([])
})
