import { nodeRoutes } from '../../apps/api/node/nodeRoutes.ts'
import { boxWords } from '../../core/bytes/boxWords.ts'
import { toHex } from '../../core/bytes/hex.ts'
import { formatTokens } from '../../core/chain/tokens.ts'
import type { Answer } from '../apiClient.ts'
import { EXIT } from '../exitCodes.ts'
import { fault } from '../faults.ts'
import { readKey } from '../parseOptions.ts'
import { NodeClient } from './nodeClient.ts'
import { watchChain } from './watchChain.ts'

export interface ChainFlags {
  readonly node: string
  readonly at: 'head' | 'final'
  readonly json?: boolean
}

type Work = (client: NodeClient, flags: ChainFlags, given: string, signal: AbortSignal) => Promise<number>

/** Another program may hold the port: whatever it answers, it moves no cursor and begins no line (attack 270). */
const print = (...rows: readonly string[]): void => {
  for (const row of rows) process.stdout.write(`${row.replace(/\p{C}/gu, '?')}\n`)
}
const lines = (fields: Readonly<Record<string, string | number>>): string[] =>
  Object.entries(fields).map(([name, value]) => `${name.padEnd(10)} ${value}`)

async function head(client: NodeClient, { json }: ChainFlags, _: string, signal: AbortSignal): Promise<number> {
  const told = await client.ask(nodeRoutes.getChain, {}, signal)
  if (json) print(JSON.stringify(told))
  else
    print(
      ...lines({
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

async function block(client: NodeClient, { json }: ChainFlags, name: string, signal: AbortSignal): Promise<number> {
  const told = await client.ask(nodeRoutes.getBlock, { params: { block: name } }, signal)
  if (json) print(JSON.stringify(told))
  else {
    const { id, height, slot, parent, author, isPrimary, isFinal, transactions } = told
    const won = height === 0 ? 'the genesis' : `${isPrimary ? 'won by' : 'drawn for'} ${author}`
    print(...lines({ block: id, height: `${height}${isFinal ? ', final' : ''}`, slot, parent, author: won }))
    for (const tx of transactions) print(`  ${tx.id.slice(0, 16)} kind ${tx.kind} of ${tx.account} nonce ${tx.nonce}`)
  }
  return EXIT.genuine
}

async function account(
  client: NodeClient,
  { json, at }: ChainFlags,
  name: string,
  signal: AbortSignal,
): Promise<number> {
  const key = keyOf(name)
  const found = await client.provenAccount(key, at, signal)
  if (found === null) throw fault('NO_SUCH_ACCOUNT', { what: 'account', key })
  const { view, block: by } = found
  const power = await client.ask(nodeRoutes.getAccount, { params: { key }, query: { at } }, signal)
  const told = { account: key, nonce: String(view.nonce), balance: String(view.balance), round: String(view.round) }
  const { drilled, drilledTotal, failed, capacity } = power
  if (json)
    print(
      JSON.stringify({
        ...{ ...told, roundRoot: toHex(view.roundRoot), block: provenBlock(by) },
        told: { height: by.height, drilled, drilledTotal, failed, capacity },
      }),
    )
  else
    print(
      ...lines({
        account: key,
        balance: `${formatTokens(view.balance)} tokens`,
        nonce: told.nonce,
        ...(view.round > 0n ? { round: `${view.round}, root ${toHex(view.roundRoot)}` } : {}),
        proven: `by block ${by.id}, slot ${by.slot}`,
        height: `${by.height} (told)`,
        ...(capacity !== '0' || drilledTotal !== '0'
          ? { drilled: `${drilledTotal} µut in all, ${drilled} a day; capacity ${capacity} µut an epoch (told)` }
          : {}),
      }),
    )
  return EXIT.genuine
}

async function score(client: NodeClient, { json, at }: ChainFlags, name: string, signal: AbortSignal): Promise<number> {
  const key = keyOf(name)
  const found = await client.provenScore(key, at, signal)
  if (found === null) throw fault('NO_SUCH_ACCOUNT', { what: 'box', key })
  print(...(json ? [JSON.stringify(scoreJson(key, found))] : scoreLines(key, found)))
  return EXIT.genuine
}

type Score = Answer<typeof nodeRoutes.getBoxScore>

/** Proofs are of the key and of the score alone: the rest is the word of the node (attack 353). */
export const scoreJson = (key: string, { score, block, account, capacity, reports }: Score) => ({
  ...{ box: key, score, block: provenBlock(block) },
  told: { height: block.height, account, capacity, reports },
})

export const scoreLines = (key: string, { score, block, account, capacity, reports }: Score): string[] => [
  ...lines({
    box: key,
    score,
    proven: `by block ${block.id}, slot ${block.slot}`,
    height: `${block.height} (told)`,
    account: `${account ?? 'none'} (told)`,
    capacity: `${capacity} µut an epoch (told)`,
  }),
  ...reports.map(
    (said) => `  ${said.validator} epoch ${said.epoch}: ${said.score}, certificate ${said.certificate} (told)`,
  ),
]

/** What a header says of its block. */
const provenBlock = ({ id, slot, parent, author }: Score['block']) => ({ id, slot, parent, author })

async function projects(client: NodeClient, { json, at }: ChainFlags, _: string, signal: AbortSignal): Promise<number> {
  const told = await client.ask(nodeRoutes.listProjects, { query: { at } }, signal)
  if (json) print(JSON.stringify(told))
  else
    for (const { project, status, work: each, depth, utility, queued, taken, about } of told.projects) {
      const done = project === 0 ? `${taken} drawn` : `${taken} of ${queued} drawn`
      const said = about === '' ? '' : `  about ${boxWords(about)}`
      print(`${project}  ${status}, ${each} µut each, 2^${depth} chunks, utility ${utility}, ${done}${said}`)
    }
  return EXIT.genuine
}

async function works(client: NodeClient, { json, at }: ChainFlags, _: string, signal: AbortSignal): Promise<number> {
  const told = await client.ask(nodeRoutes.listWorks, { query: { at } }, signal)
  if (json) print(JSON.stringify(told))
  else {
    print(`${told.count} under way at block ${told.block.height}`)
    for (const one of told.works)
      print(
        `${one.id}  project ${one.project}, ${one.work} µut, ${one.due} is due: ` +
          `${one.committed} committed and ${one.revealed} revealed of ${one.accounts.length}`,
      )
  }
  return EXIT.genuine
}

async function work(client: NodeClient, { json, at }: ChainFlags, name: string, signal: AbortSignal): Promise<number> {
  const asked = { params: { id: keyOf(name) }, query: { at } }
  const told = await client.ask(nodeRoutes.getWork, asked, signal)
  if (json) print(JSON.stringify(told))
  else {
    const size = `${told.work} µut, 2^${told.depth} chunks`
    print(...lines({ work: told.id, project: told.project, size, drawn: `in epoch ${told.epoch}`, due: told.due }))
    for (const { account: key, origin, commitment, result, hasOpened, mark } of told.replicas) {
      const done = result ?? (commitment === null ? 'nothing yet' : 'committed')
      print(`  ${key}  ${origin}: ${done}${hasOpened ? ', opened' : ''}${mark === 'none' ? '' : `, ${mark}`}`)
    }
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

async function watch(client: NodeClient, { json }: ChainFlags, _: string, signal: AbortSignal): Promise<number> {
  for await (const { event, data } of watchChain(client.url, signal)) {
    if (event === 'beat' || event === 'hello') continue
    if (json) print(JSON.stringify({ event, ...asObject(data) }))
    else print([event, ...Object.values(asObject(data)).slice(0, 3)].map(oneWord).join(' '))
  }
  throw fault('NODE_NOT_RUNNING', { url: client.url })
}

/** Places and names of blocks stay as they are; anything else is seen to be the node's (attack 300). */
const oneWord = (value: unknown): string =>
  /^[\w-]{1,64}$/.test(String(value)) ? String(value) : boxWords(String(value))

function asObject(text: string): object {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null ? value : { value }
  } catch {
    return {}
  }
}

const VIEWS = { head, block, account, score, projects, works, work, watch } as const satisfies Readonly<
  Record<string, Work>
>

/** What can be looked at. */
export type ChainView = keyof typeof VIEWS

/** Asks a node, and shows what it answered. */
export const showChain = (view: ChainView, flags: ChainFlags, given: string, signal: AbortSignal): Promise<number> =>
  VIEWS[view](new NodeClient(flags.node), flags, given, signal)
