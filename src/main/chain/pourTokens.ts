import { nodeRoutes } from '../../apps/api/node/nodeRoutes.ts'
import { fromHex, toHex } from '../../core/bytes/hex.ts'
import { devnetSecret } from '../../core/chain/accountKeys.ts'
import { formatTokens } from '../../core/chain/tokens.ts'
import { nativeSigner } from '../../drivers/system/nativeSigner.ts'
import { readWallet } from '../../drivers/wallet/walletFile.ts'
import { EXIT } from '../exitCodes.ts'
import { fault } from '../faults.ts'
import { readKey } from '../parseOptions.ts'
import { walletPath } from '../wallet/walletPath.ts'
import { NodeClient } from './nodeClient.ts'
import { sendPayment, untilFinal } from './sendTx.ts'

export interface FaucetFlags {
  readonly node: string
  readonly amount: bigint
  readonly wait?: boolean
  readonly json?: boolean
}

/** The last of the accounts that a devnet begins with: none of those that make its blocks, unless all do. */
export const FAUCET = 15

/** Pays from an account of the devnet that everybody has the key of. */
export async function pourTokens(
  name: string,
  flags: FaucetFlags,
  env: NodeJS.ProcessEnv,
  signal: AbortSignal,
): Promise<number> {
  const to = /^[0-9a-fA-F]{64}$/.test(name) ? readKey(name) : fromHex(accountOf(env, name), 32)!
  const client = new NodeClient(flags.node)
  const { preset } = await client.ask(nodeRoutes.getChain, {}, signal)
  if (preset !== 'devnet') throw fault('NOT_A_DEVNET', { preset })
  const signer = nativeSigner(devnetSecret(FAUCET))
  const sent = await sendPayment(client, signer, { to, amount: flags.amount }, signal)
  if (flags.wait) await untilFinal(client, toHex(signer.publicKey), sent, signal)
  const told = { transaction: sent.id, account: toHex(to), amount: String(flags.amount), isFinal: flags.wait === true }
  const state = flags.wait ? 'final' : 'on their way'
  process.stdout.write(
    flags.json ? `${JSON.stringify(told)}\n` : `${formatTokens(flags.amount)} tokens for ${told.account}: ${state}\n`,
  )
  return EXIT.genuine
}

function accountOf(env: NodeJS.ProcessEnv, name: string): string {
  const { kind, account } = readWallet(walletPath(env, name))
  if (kind !== 'touchstone') throw fault('OTHER_KIND_OF_WALLET', { name })
  return account
}
