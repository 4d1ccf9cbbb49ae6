import { type Command, Option } from 'commander'
import { nodeRoutes } from '../../apps/api/node/nodeRoutes.ts'
import { toHex } from '../../core/bytes/hex.ts'
import { formatTokens } from '../../core/chain/tokens.ts'
import type { Answer } from '../apiClient.ts'
import { EXIT } from '../exitCodes.ts'
import { fault } from '../faults.ts'
import { readKey } from '../parseOptions.ts'
import type { CommandContext } from '../run.ts'
import { NodeClient } from './nodeClient.ts'
import { NODE_OPTION } from './nodeOption.ts'
import { watchChain } from './watchChain.ts'

interface Flags {
  readonly node: string
  readonly at: 'head' | 'final'
  readonly json?: boolean
}

type Work = (client: NodeClient, flags: Flags, given: string, signal: AbortSignal) => Promise<number>

/** Another program may hold the port: whatever it answers, it moves no cursor. */
const print = (text: string): void => void process.stdout.write(`${text.replace(/[^\P{C}\n]/gu, '?')}\n`)
const lines = (fields: Readonly<Record<string, string | number>>): string =>
  Object.entries(fields)
    .map(([name, value]) => `${name.padEnd(10)} ${value}`)
    .join('\n')

const AFTER_HELP = `
Accounts and scores come with light proofs, which are checked here against the
header of a block: a node can leave things out, but invent none. Which block is
final is the word of the node; ask two that know nothing of each other.

Examples:
  touchstone chain head
  touchstone chain account KEY --node https://node.example.org`

/** `touchstone chain`: looks around on our chain. */
export function addChainCommand(program: Command, context: CommandContext): void {
  const chain = program
    .command('chain')
    .description('look around on our chain: its head, blocks, accounts and scores')
    .addHelpText('after', AFTER_HELP)
  const add = (usage: string, description: string, work: Work) =>
    chain
      .command(usage)
      .description(description)
      .option(...NODE_OPTION)
      .option('--json', 'print JSON')
      .action((...given: unknown[]) => {
        const command = given.at(-1) as Command
        const flags = command.opts<Flags>()
        return context.run((signal) => work(new NodeClient(flags.node), flags, command.args[0] ?? '', signal))
      })
  const at = () =>
    new Option('--at <state>', 'after the tip, or after the last final block')
      .choices(['head', 'final'])
      .default('final')
  add('head', 'which chain it is, its head and its last final block', head)
  add('block <name>', 'a block: its hash, its height, "head" or "final"', block)
  add('account <key>', 'what an account has', account).addOption(at())
  add('score <box>', 'the score of a box on the chain, by its key', score).addOption(at())
  add('watch', 'every new head and final block, until Ctrl-C', watch)
}

async function head(client: NodeClient, { json }: Flags, _: string, signal: AbortSignal): Promise<number> {
  const told = await client.ask(nodeRoutes.getChain, {}, signal)
  if (json) print(JSON.stringify(told))
  else
    print(
      lines({
        chain: `${told.genesis} (${told.preset})`,
        head: `${told.head.height}, slot ${told.head.slot}, ${told.head.id}`,
        final: `${told.final.height}, slot ${told.final.slot}, ${told.final.id}`,
        now: `slot ${told.slot}, ${told.peers} peers, ${told.pooled} transactions waiting${doingOf(told)}`,
      }),
    )
  return EXIT.genuine
}

const doingOf = ({ isSyncing, isHalted }: Answer<typeof nodeRoutes.getChain>): string =>
  isHalted ? '; it has stopped: two final blocks exclude each other' : isSyncing ? '; it is catching up' : ''

async function block(client: NodeClient, { json }: Flags, name: string, signal: AbortSignal): Promise<number> {
  const told = await client.ask(nodeRoutes.getBlock, { params: { block: name } }, signal)
  if (json) print(JSON.stringify(told))
  else {
    const { id, height, slot, parent, author, isPrimary, isFinal, transactions } = told
    const won = height === 0 ? 'the genesis' : `${isPrimary ? 'won by' : 'drawn for'} ${author}`
    print(lines({ block: id, height: `${height}${isFinal ? ', final' : ''}`, slot, parent, author: won }))
    for (const tx of transactions) print(`  ${tx.id.slice(0, 16)} kind ${tx.kind} of ${tx.account} nonce ${tx.nonce}`)
  }
  return EXIT.genuine
}

async function account(client: NodeClient, { json, at }: Flags, name: string, signal: AbortSignal): Promise<number> {
  const key = keyOf(name)
  const found = await client.provenAccount(key, at, signal)
  if (found === null) throw fault('NO_SUCH_ACCOUNT', { what: 'account', key })
  const { view, block: by } = found
  const told = { account: key, nonce: String(view.nonce), balance: String(view.balance), round: String(view.round) }
  if (json) print(JSON.stringify({ ...told, roundRoot: toHex(view.roundRoot), block: by }))
  else
    print(
      lines({
        account: key,
        balance: `${formatTokens(view.balance)} tokens`,
        nonce: told.nonce,
        ...(view.round > 0n ? { round: `${view.round}, root ${toHex(view.roundRoot)}` } : {}),
        proven: `by block ${by.height}, ${by.id}`,
      }),
    )
  return EXIT.genuine
}

async function score(client: NodeClient, { json, at }: Flags, name: string, signal: AbortSignal): Promise<number> {
  const key = keyOf(name)
  const found = await client.provenScore(key, at, signal)
  if (found === null) throw fault('NO_SUCH_ACCOUNT', { what: 'box', key })
  if (json) print(JSON.stringify(found))
  else {
    print(
      lines({
        box: key,
        account: found.account ?? 'none',
        score: found.score,
        capacity: `${found.capacity} µut an epoch`,
      }),
    )
    for (const said of found.reports)
      print(`  ${said.validator} epoch ${said.epoch}: ${said.score}, certificate ${said.certificate}`)
    print(lines({ proven: `by block ${found.block.height}, ${found.block.id}` }))
  }
  return EXIT.genuine
}

/** A key that is mistyped is told before any node is asked. */
function keyOf(text: string): string {
  try {
    return toHex(readKey(text))
  } catch {
    throw fault('USAGE', { why: `${text} is not a key of 64 hex digits`, help: 'touchstone chain --help' })
  }
}

async function watch(client: NodeClient, { json }: Flags, _: string, signal: AbortSignal): Promise<number> {
  for await (const { event, data } of watchChain(client.url, signal)) {
    if (event === 'beat' || event === 'hello') continue
    if (json) print(JSON.stringify({ event, ...asObject(data) }))
    else print(`${event} ${Object.values(asObject(data)).slice(0, 3).join(' ')}`)
  }
  throw fault('NODE_NOT_RUNNING', { url: client.url })
}

function asObject(text: string): object {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null ? value : { value }
  } catch {
    return {}
  }
}
