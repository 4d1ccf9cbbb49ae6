import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Command, CommanderError, type Option } from 'commander'
import { afterAll, describe, expect, test } from 'vitest'
import { joinPasted } from '../src/drivers/remote/ssh/sshTarget.ts'
import { COMMANDS } from '../src/main/commands.ts'
import { EXIT } from '../src/main/exitCodes.ts'
import { holdToTyped } from '../src/main/holdToTyped.ts'
import { openCommandLine } from './support/commandLine.ts'
import { OPTION_TABLE } from './support/optionTable.ts'

const folder = mkdtempSync(join(tmpdir(), 'touchstone-options-'))
mkdirSync(join(folder, 'there'))
writeFileSync(join(folder, 'there', 'genesis.json'), '{}')
const env = { HOME: folder, TOUCHSTONE_HOME: join(folder, 'home') }
const commands = openCommandLine({ ...process.env, ...env, NO_COLOR: '1' })
afterAll(async () => {
  await commands.close()
  rmSync(folder, { recursive: true, force: true })
})

const adders = await Promise.all(Object.entries(COMMANDS).map(async ([name, load]) => [name, await load()] as const))

/** All commands, or one of them, which run nothing: `onRun` is told instead. */
function openProgram(onRun: () => void, only?: string): Command {
  const program = new Command('touchstone')
    .exitOverride()
    .enablePositionalOptions()
    .configureOutput({ writeOut: () => {}, writeErr: () => {} })
  const context = { env, run: async () => onRun() }
  for (const [name, add] of adders) if (only === undefined || name === only) add(program, context)
  holdToTyped(program, false)
  return program
}

/** What a command line is refused with, before anything runs; null where it would run. */
async function refusalOf(line: string, ...more: readonly string[]): Promise<string | null> {
  let isRun = false
  const words = [...line.split(' '), ...more].map((word) => (/^(empty|there)$/.test(word) ? join(folder, word) : word))
  const given = ['node', 'touchstone', ...words]
  try {
    await openProgram(() => {
      isRun = true
    }, words[0]).parseAsync(words[0] === 'verify' ? joinPasted(given) : given)
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error
    expect([error.exitCode, isRun]).toEqual([1, false])
    return error.message
  }
  expect(isRun).toBe(true)
  return null
}

const walk = (command: Command, path: string): readonly (readonly [string, Command])[] => [
  [path, command],
  ...command.commands.flatMap((inner) => walk(inner, `${path} ${inner.name()}`)),
]
const ALL = openProgram(() => {}).commands.flatMap((command) => walk(command, command.name()))
/** Those that read evidence: what their options do depends on the file. */
const READERS = ['check', 'report', 'ledger check']
const RUNNING = ALL.filter(([path, { options }]) => options.length > 0 && !READERS.includes(path))

const HEX = 'ab'.repeat(32)
/** A value that each option takes: by command and flag, or by flag. */
const VALUES: Readonly<Record<string, string>> = {
  ...{ preset: 'tiny', precisions: 'int8', openings: '8', partSeconds: '1', duration: '1', devices: 'cpu' },
  ...{ maxDevices: '1', claim: 'H100', leaseNetworks: '10.0.0.0/8', validFor: '1d', limit: '1h', work: 'train' },
  ...{ hostKey: `SHA256:${'a'.repeat(43)}`, seconds: '1', tolerance: '5', model: 'tiny', steps: '3', size: '64' },
  ...{ method: 'openings', on: 'root@203.0.113.8', replicas: '1', segmentLimit: '9', family: 'llama', hidden: '8' },
  ...{ layers: '1', width: '8', heads: '1', tokens: '1', sequences: '1', shards: '1', rate: '0.1', products: 'all' },
  ...{ temperature: '1', seed: '1', interval: '1', viscosity: '1', speed: '0.1', noise: '0.1', frames: '1' },
  ...{ obstacle: 'sphere:1,1,1,1', height: '8', samples: '1', bounces: '1', zenith: '1,1,1', horizon: '1,1,1' },
  ...{ allow: HEX, allowRent: HEX, listen: '127.0.0.1:1', dialOut: `ws://h/lease#${HEX}`, sshPort: '22' },
  ...{ confinement: 'auto', check: 'tiny', to: 'rent', hours: '1', trust: HEX, port: '1', authorities: '2' },
  ...{ api: '127.0.0.1:1', checkpoint: HEX, chain: HEX, depth: '1', utility: '1', count: '1', amount: '1' },
  ...{ rpc: 'http://127.0.0.1:1', chainId: '1', maxFee: '1', seeds: '2', nodes: '5', slots: '10' },
  ...{ signers: '1', prover: HEX, maxAge: '1d', sample: '1', 'check model': HEX, nonce: HEX, box: 'box-1' },
  ...{ 'check at': '2026-01-31T12:00:00Z', contract: `0x${'ab'.repeat(20)}`, publisher: `0x${'ab'.repeat(20)}` },
  ...{
    'check code': HEX,
    'ledger node': 'http://127.0.0.1:1',
    'chain node': 'http://127.0.0.1:1',
    'work run classify method': 'zk',
    'project new work': '310',
  },
  ...{ 'project node': 'http://127.0.0.1:1', 'faucet node': 'http://127.0.0.1:1', 'wallet node': 'http://127.0.0.1:1' },
}

function wordsFor(path: string, option: Option): readonly string[] {
  const long = option.long!
  if (option.isBoolean() || option.negate) return [long]
  const name = option.attributeName()
  const value = VALUES[`${path} ${name}`] ?? VALUES[`${path.split(' ')[0]} ${name}`] ?? VALUES[name] ?? 'file'
  return [long, option.argChoices?.[0] ?? value]
}

const namesIn = (text = ''): readonly string[] => text.split(' ').filter((name) => name !== '')
const sorted = (names: Iterable<string>): readonly string[] => [...names].sort()

describe('every option of every command that runs something', () => {
  test.each(RUNNING)('%s: each judges, chooses or shows, and has one place', (path, { options }) => {
    const { judges = {}, chooses, shows } = OPTION_TABLE[path] ?? { modes: {} }
    const placed = [...Object.keys(judges), ...namesIn(chooses), ...namesIn(shows)]
    expect(sorted(placed)).toEqual(sorted(new Set(options.map((option) => option.attributeName()))))
    const root = fileURLToPath(new URL('../', import.meta.url))
    expect(Object.values(judges).filter(([, file]) => !existsSync(join(root, file)))).toEqual([])
  })

  test('no command has a place that is none', () => {
    expect(sorted(Object.keys(OPTION_TABLE))).toEqual(sorted(RUNNING.map(([path]) => path)))
  })

  // Attack 288.
  test.each(
    RUNNING.flatMap(([path, command]) =>
      Object.entries(OPTION_TABLE[path]?.modes ?? {}).map(([line, idle]) => [line, idle, path, command] as const),
    ),
  )('in `%s` what would do nothing is refused, and nothing else', async (line, idle, path, { options }) => {
    const words = line.split(' ')
    const given = new Set(words.slice(words.lastIndexOf(path.split(' ').at(-1)!)))
    const refused = []
    for (const option of options.filter(({ long }) => !given.has(long!)))
      if ((await refusalOf(line, ...wordsFor(path, option))) !== null) refused.push(option.attributeName())
    expect(sorted(new Set(refused))).toEqual(sorted(namesIn(idle)))
  })
})

describe('every option of every command', () => {
  const everywhere = ALL.flatMap(([path, command]) => command.options.map((option) => ({ path, command, option })))

  test('attack 289: what may be repeated says so, and nothing else may be given twice', async () => {
    const wrong = []
    for (const { path, option } of everywhere) {
      const words = wordsFor(path, option)
      const mayRepeat = /repeated|give it twice/.test(option.description)
      const refusal = (await refusalOf(path, ...words, ...words)) ?? ''
      if (/more than once/.test(refusal) === mayRepeat) wrong.push(`${path} ${option.long}: ${refusal}`)
    }
    expect(wrong).toEqual([])
  })

  test('attack 289: what is empty is refused', async () => {
    const wrong = []
    for (const { path, option } of everywhere.filter(({ option }) => !option.isBoolean() && !option.negate)) {
      const refusal = await refusalOf(path, option.long!, '')
      if (!/is empty|is invalid/.test(refusal ?? '')) wrong.push(`${path} ${option.long}: ${refusal}`)
    }
    expect(wrong).toEqual([])
  })
})

describe('what is passed over', () => {
  const key = join(folder, 'plain.key')
  writeFileSync(key, HEX, { mode: 0o600 })
  const deploy = ['ledger', 'deploy', '--rpc', 'http://127.0.0.1:1', '--chain-id', '1', '--key', key]

  test.each([
    ['attack 289', ['verify', '--claim', '8x H100', '--claim', '1x RTX 3060'], 'USAGE'],
    ['attack 289', ['node', '--no-api', '--api', '127.0.0.1:1'], 'USAGE'],
    ['attack 289', ['verify', ''], 'USAGE'],
    ['attack 289', ['verify', 'ssh', '-p', '22', '-p', '2222', 'root@203.0.113.7'], 'BAD_ADDRESS'],
    ['attack 315', ['verify', 'ssh', '-o', 'SendEnv=LANG root@203.0.113.7', 'root@203.0.113.8'], 'BAD_ADDRESS'],
    ['attack 288', ['provider', '--allow', 'anyone', 'status'], 'USAGE'],
    ['attack 288', ['provider', 'status', '--allow', 'anyone'], 'USAGE'],
    ['attack 288', ['validator', 'alive', `lease://203.0.113.7:1#${HEX}`, '--config', 'a.yaml'], 'USAGE'],
    ['attack 288', [...deploy, '--password-file', key], 'NOT_SEALED'],
    ['attack 288', ['node', '--data', join(folder, 'new'), '--password-file', key], 'NOT_SEALED'],
    ['no attack', ['wallet', 'list', 'main'], 'USAGE'],
  ])('%s: %j ends with 2, also as JSON', async (_, words, code) => {
    const { status, stdout } = await commands.run([...words, '--json'])
    expect([status, JSON.parse(stdout)]).toMatchObject([EXIT.usage, { error: { code } }])
  })

  test('attack 288: a command that says yes with an option that it never looked at ends with 2', async () => {
    const before = process.exitCode
    const endOf = async (...words: readonly string[]) => {
      const program = new Command('touchstone').exitOverride()
      const act = ({ read }: { readonly read?: string }) => {
        process.exitCode = read === 'no' ? EXIT.rejected : EXIT.genuine
      }
      program.command('look').option('--read <text>').option('--unread <text>').option('--json').action(act)
      holdToTyped(program, true)
      try {
        await program.parseAsync(['node', 'touchstone', 'look', ...words])
        return process.exitCode
      } finally {
        process.exitCode = before
      }
    }
    expect(await endOf('--read', 'yes', '--json')).toBe(EXIT.genuine)
    expect(await endOf('--read', 'yes', '--unread', 'x')).toBe(EXIT.usage)
    expect(await endOf('--read', 'no', '--unread', 'x')).toBe(EXIT.rejected)
  })
})
