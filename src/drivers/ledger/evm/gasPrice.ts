import * as z from 'zod'
import { fault } from '../faults.ts'
import { type JsonRpc, quantity } from './jsonRpc.ts'

/** What a unit of gas may cost, and what of it goes to whoever makes the block. */
export interface GasPrice {
  readonly fee: bigint
  readonly tip: bigint
}

const TIP = 1_000_000_000n
/** A node takes a transaction in place of another with the same nonce for an eighth more, of both parts. */
const raised = (fee: bigint): bigint => fee + fee / 8n + 1n
const smaller = (a: bigint, b: bigint): bigint => (a < b ? a : b)

const block = z.object({ baseFeePerGas: quantity })

/** More than `before`, which waits under the same nonce, and never above what the operator allows, whatever the node says. */
export async function gasPrice(
  call: JsonRpc,
  maxFeeGwei: number,
  before: GasPrice | null,
  signal: AbortSignal,
): Promise<GasPrice> {
  const { baseFeePerGas } = await call('eth_getBlockByNumber', ['latest', false], block, signal)
  const most = BigInt(Math.floor(maxFeeGwei * 1e9))
  if (baseFeePerGas > most) throw fault('LEDGER_TOO_DEAR', { gwei: Number(baseFeePerGas) / 1e9, most: maxFeeGwei })
  const tip = before === null ? TIP : raised(before.tip)
  const wanted = 2n * baseFeePerGas + tip
  const least = before === null ? 0n : raised(before.fee)
  const fee = smaller(wanted > least ? wanted : least, most)
  return { fee, tip: smaller(tip, fee) }
}
