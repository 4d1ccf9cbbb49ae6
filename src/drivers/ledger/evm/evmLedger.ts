import * as z from 'zod'
import type { RoundRecord } from '../../../core/ledger/roundRecord.ts'
import { type Ledger, OTHER_ROOT, type Publication } from '../../../ports/ledger.ts'
import { fault } from '../faults.ts'
import type { EvmAccount } from './evmAccount.ts'
import { type GasPrice, gasPrice } from './gasPrice.ts'
import { type JsonRpc, jsonRpc, quantity, shownNode } from './jsonRpc.ts'
import { isPublishedCall, publishCall, rootOfCall } from './roundsContract.ts'

export interface EvmSettings {
  /** Nodes of one chain. A round counts as published when all of them say so: one that lies is not enough. */
  readonly urls: readonly string[]
  readonly chainId: number
  readonly contract: string
  readonly maxFeeGwei: number
  /** What counts as final: the chain's own word, or so many blocks on top. */
  readonly final: 'finalized' | number
}

/** More than twice what a publication takes (`bench/ledger.mjs`): no node tells us how much gas to pay for. */
const PUBLISH_GAS = 120_000n
const word = z.string().regex(/^0x[0-9a-f]{64}$/)
const wordOrNothing = z.union([word, z.literal('0x')])
const NOTHING = `0x${'00'.repeat(32)}`
const TRUE = `0x${'00'.repeat(31)}01`

/** Rounds in the contract of contracts/TouchstoneRounds.sol. Where the nodes are is the operator's own setting: any address is asked. */
export function evmLedger(settings: EvmSettings, account: EvmAccount): Ledger {
  return new EvmLedger(settings, account)
}

/** What the contract says of the scores of a publisher: no key is needed to ask. */
export const evmWitness =
  (settings: EvmSettings, publisher: string): Ledger['confirms'] =>
  async (proof, signal) => {
    const nodes = nodesOf(settings)
    await ensureChain(nodes, settings, signal)
    const data = isPublishedCall(publisher, proof)
    const said = await Promise.all(nodes.map((node) => read(node, settings, data, 'final', signal)))
    return said.every((answer) => answer === TRUE)
  }

interface Node {
  readonly url: string
  readonly call: JsonRpc
}

const nodesOf = ({ urls }: EvmSettings): readonly Node[] =>
  urls.map((url) => ({ url: shownNode(url), call: jsonRpc(url) }))

async function ensureChain(nodes: readonly Node[], { chainId }: EvmSettings, signal: AbortSignal): Promise<void> {
  for (const { url, call } of nodes) {
    const got = await call('eth_chainId', [], quantity, signal)
    if (got !== BigInt(chainId)) throw fault('LEDGER_WRONG_CHAIN', { url, got: String(got), expected: chainId })
  }
}

type At = 'final' | 'latest'

async function read(node: Node, settings: EvmSettings, data: string, at: At, signal: AbortSignal): Promise<string> {
  const { contract, chainId } = settings
  const block = at === 'latest' ? at : await finalBlock(node, settings, signal)
  // Below the block that made it there is nothing of ours.
  if (block === null) return NOTHING
  const said = await node.call('eth_call', [{ to: contract, data }, block], wordOrNothing, signal)
  if (said !== '0x') return said
  if (at === 'latest') throw fault('LEDGER_NO_CONTRACT', { contract, chainId })
  return NOTHING
}

async function finalBlock({ call }: Node, { final }: EvmSettings, signal: AbortSignal): Promise<string | null> {
  if (final === 'finalized') return final
  const at = (await call('eth_blockNumber', [], quantity, signal)) - BigInt(final)
  return at < 0n ? null : `0x${at.toString(16)}`
}

class EvmLedger implements Ledger {
  readonly confirms: Ledger['confirms']
  readonly #settings: EvmSettings
  readonly #account: EvmAccount
  readonly #nodes: readonly Node[]
  /** What was last sent, so that the next try replaces it and none waits behind another. */
  #sent: (GasPrice & { readonly nonce: bigint }) | null = null

  constructor(settings: EvmSettings, account: EvmAccount) {
    this.#settings = settings
    this.#account = account
    this.#nodes = nodesOf(settings)
    this.confirms = evmWitness(settings, account.address)
  }

  async publish(record: RoundRecord, signal: AbortSignal): Promise<Publication> {
    const { round } = record
    const { chainId, contract } = this.#settings
    const root = `0x${record.root}`
    const rootAt = (node: Node, at: At) =>
      read(node, this.#settings, rootOfCall(this.#account.address, round), at, signal)
    await ensureChain(this.#nodes, this.#settings, signal)
    const roots = await Promise.all(this.#nodes.map((node) => rootAt(node, 'final')))
    const [first] = roots
    if (roots.some((other) => other !== first)) throw fault('LEDGER_DISAGREES', { round })
    if (first === root) return { kind: 'published', where: `evm:${chainId}/${contract}/${this.#account.address}` }
    if (first !== NOTHING) return OTHER_ROOT
    const [sender] = this.#nodes as readonly [Node]
    if ((await rootAt(sender, 'latest')) === root)
      return { kind: 'pending', why: 'it is in a block that is not final yet' }
    const hash = await this.#send(sender, publishCall(round, record.root), signal)
    return { kind: 'pending', why: `sent as ${hash}` }
  }

  /** With the nonce of what is in blocks, never of what waits: no gap of ours can keep a round back. */
  async #send({ call }: Node, data: string, signal: AbortSignal): Promise<string> {
    const { chainId, contract } = this.#settings
    const { address } = this.#account
    const nonce = await call('eth_getTransactionCount', [address, 'latest'], quantity, signal)
    const before = this.#sent?.nonce === nonce ? this.#sent : null
    const { fee, tip } = await gasPrice(call, this.#settings.maxFeeGwei, before, signal)
    const balance = await call('eth_getBalance', [address, 'latest'], quantity, signal)
    if (balance < PUBLISH_GAS * fee) throw fault('LEDGER_NO_FUNDS', { address })
    const price = { maxFee: fee, maxPriorityFee: tip, gas: PUBLISH_GAS }
    const { raw, hash } = this.#account.sign({ chainId: BigInt(chainId), nonce, ...price, to: contract, data })
    // Before it is sent: where the answer is lost, the next try offers more.
    this.#sent = { nonce, fee, tip }
    await call('eth_sendRawTransaction', [raw], z.string(), signal)
    return hash
  }
}
