import type { OpenAPIHono } from '@hono/zod-openapi'
import { toHex } from '../../../core/bytes/hex.ts'
import { sha256 } from '../../../core/bytes/sha256.ts'
import { decodeBlock } from '../../../core/chain/blockBytes.ts'
import { HeaderType, type Tx, TxType } from '../../../core/chain/ssz.ts'
import type { ChainEvent, ChainNode } from '../../../ports/chainNode.ts'
import type { StoredBlock } from '../../../ports/chainStore.ts'
import { found } from '../problem.ts'
import { eventStreams } from '../streamEvents.ts'
import type { NodeApiDeps } from './createNodeApi.ts'
import { nodeRoutes } from './nodeRoutes.ts'

export function addBlockRoutes(app: OpenAPIHono, deps: NodeApiDeps): void {
  const { node, program } = deps
  app.openapi(nodeRoutes.getChain, (c) => c.json(toldChain(node, program), 200))
  app.openapi(nodeRoutes.getBlock, async (c) => {
    const facts = found(await factsOf(node, c.req.valid('param').block), 'block')
    return c.json(await toldBlock(node, facts), 200)
  })
  const stream = eventStreams((listener) => node.subscribe((event) => listener(toldEvent(event))), deps)
  app.openapi(nodeRoutes.watchChain, (c) => stream(c) as never)
  app.openapi(nodeRoutes.getHeight, (c) => c.json({ height: node.final.height }, 200))
  app.openapi(nodeRoutes.getNodeHealth, (c) => {
    const ok = !node.status().isHalted
    return c.json({ ok, program }, ok ? 200 : 503)
  })
}

function toldChain(node: ChainNode, program: string) {
  const { preset, timeMs, params } = node.genesis
  return {
    program,
    genesis: node.genesisId,
    preset,
    startedAtMs: Number(timeMs),
    slotMs: Number(params.slotMs),
    epochSlots: Number(params.epochSlots),
    feePerByte: String(params.feePerByte),
    head: placeOf(node.head),
    final: placeOf(node.final),
    ...node.status(),
  }
}

/** Where a block stands, without what only consensus needs. */
export const placeOf = ({ id, height, slot, parent, author, win }: StoredBlock) => ({
  ...{ id, height, slot, parent, author },
  isPrimary: win !== null,
})

async function factsOf(node: ChainNode, name: string): Promise<StoredBlock | null> {
  if (name === 'head') return node.head
  if (name === 'final') return node.final
  const id = /^[0-9]{1,15}$/.test(name) ? await node.idAt(Number(name)) : name
  return id === null ? null : await node.facts(id)
}

/** On the branch of the head, and not above the last final block. */
async function isFinal(node: ChainNode, { id, height }: StoredBlock): Promise<boolean> {
  return height <= node.final.height && (await node.idAt(height)) === id
}

async function toldBlock(node: ChainNode, facts: StoredBlock) {
  const block = await blockOf(node, facts.id)
  return {
    ...placeOf(facts),
    isFinal: await isFinal(node, facts),
    header: block === null ? null : toHex(HeaderType.serialize(block.header)),
    transactions: (block?.body.txs ?? []).map(toldTx),
  }
}

const blockOf = async (node: ChainNode, id: string) => {
  const bytes = await node.block(id)
  return bytes === null ? null : decodeBlock(bytes)
}

/** The header of a block, for whoever checks a proof against it. */
export async function headerOf(node: ChainNode, id: string): Promise<string | null> {
  const block = await blockOf(node, id)
  return block === null ? null : toHex(HeaderType.serialize(block.header))
}

const toldTx = (tx: Tx) => ({
  id: toHex(sha256(TxType.serialize(tx))),
  kind: tx.kind,
  account: toHex(tx.account),
  nonce: String(tx.nonce),
  fee: String(tx.fee),
  payer: tx.payer[0] === undefined ? null : toHex(tx.payer[0]),
  payload: toHex(tx.payload),
})

const toldEvent = (event: ChainEvent) => ({
  event: event.kind,
  data: JSON.stringify(event.kind === 'halted' ? { blocks: event.blocks } : placeOf(event.block)),
})
