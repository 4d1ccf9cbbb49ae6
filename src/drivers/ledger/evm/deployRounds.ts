import { readFileSync } from 'node:fs'
import * as z from 'zod'
import type { Clock } from '../../../ports/clock.ts'
import { fault } from '../faults.ts'
import type { EvmAccount } from './evmAccount.ts'
import type { EvmSettings } from './evmLedger.ts'
import { gasPrice } from './gasPrice.ts'
import { jsonRpc, quantity, shownNode } from './jsonRpc.ts'

const BUILT = new URL('../../../../contracts/built/TouchstoneRounds.json', import.meta.url)
const built = z.object({ bytecode: z.string().regex(/^0x[0-9a-f]+$/) })

/** The code of the contract as contracts/build.mjs made it. */
export const roundsBytecode = (): string => built.parse(JSON.parse(readFileSync(BUILT, 'utf8'))).bytecode

/** Twice what it takes (`bench/ledger.mjs`). */
const DEPLOY_GAS = 1_000_000n
const POLL_MS = 1_000

const receipt = z.object({ status: z.literal('0x1') }).nullable()

/** Makes the contract on a chain and waits for its block. Its address follows from the account and the nonce: no node tells it. */
export async function deployRounds(
  { urls, chainId, maxFeeGwei }: Pick<EvmSettings, 'urls' | 'chainId' | 'maxFeeGwei'>,
  account: EvmAccount,
  clock: Clock,
  signal: AbortSignal,
): Promise<{ readonly contract: string; readonly transaction: string }> {
  const url = urls[0]!
  const call = jsonRpc(url)
  const got = await call('eth_chainId', [], quantity, signal)
  if (got !== BigInt(chainId))
    throw fault('LEDGER_WRONG_CHAIN', { url: shownNode(url), got: String(got), expected: chainId })
  const { address } = account
  const nonce = await call('eth_getTransactionCount', [address, 'latest'], quantity, signal)
  const { fee, tip } = await gasPrice(call, maxFeeGwei, null, signal)
  const balance = await call('eth_getBalance', [address, 'latest'], quantity, signal)
  if (balance < DEPLOY_GAS * fee) throw fault('LEDGER_NO_FUNDS', { address })
  const price = { maxFee: fee, maxPriorityFee: tip, gas: DEPLOY_GAS }
  const made = { chainId: BigInt(chainId), nonce, ...price, to: null, data: roundsBytecode() }
  const { raw, hash } = account.sign(made)
  await call('eth_sendRawTransaction', [raw], z.string(), signal)
  while ((await call('eth_getTransactionReceipt', [hash], receipt, signal)) === null) await clock.sleep(POLL_MS, signal)
  return { contract: account.contractAt(nonce), transaction: hash }
}
