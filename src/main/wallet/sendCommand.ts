import { toHex } from '../../core/bytes/hex.ts'
import { formatTokens, parseTokens } from '../../core/chain/tokens.ts'
import { nativeSigner } from '../../drivers/system/nativeSigner.ts'
import { openWallet, readWallet } from '../../drivers/wallet/walletFile.ts'
import { NodeClient } from '../chain/nodeClient.ts'
import { sendPayment, untilFinal } from '../chain/sendTx.ts'
import { EXIT } from '../exitCodes.ts'
import { fault } from '../faults.ts'
import { type PasswordFlags, readPassword } from './walletPassword.ts'
import { walletPath } from './walletPath.ts'

export interface SendFlags extends PasswordFlags {
  readonly from: string
  readonly node: string
  readonly chain?: string
  readonly wait?: boolean
  readonly json?: boolean
}

/** Pays from a wallet. Everything that can be refused is, before the password is asked for. */
export async function send(
  { to, amount }: { readonly to: string; readonly amount: string },
  flags: SendFlags,
  env: NodeJS.ProcessEnv,
  signal: AbortSignal,
): Promise<number> {
  const units = parseTokens(amount)
  if (units === null || units === 0n || !/^[0-9a-f]{64}$/.test(to))
    throw fault('USAGE', {
      why: 'name a key of 64 hex digits and an amount such as 12.5',
      help: 'touchstone wallet send --help',
    })
  const path = walletPath(env, flags.from)
  if (readWallet(path).kind !== 'touchstone') throw fault('OTHER_KIND_OF_WALLET', { name: flags.from })
  const client = new NodeClient(flags.node, flags.chain)
  await client.terms(signal)
  const { secret, account } = await openWallet(path, await readPassword(flags, env, signal))
  const signer = nativeSigner(secret)
  const sent = await sendPayment(client, signer, { to: Buffer.from(to, 'hex'), amount: units }, signal)
  if (flags.wait) await untilFinal(client, account, sent, signal)
  const told = {
    transaction: sent.id,
    from: toHex(signer.publicKey),
    to,
    amount: String(units),
    isFinal: flags.wait === true,
  }
  const state = flags.wait ? 'final' : 'on its way'
  process.stdout.write(
    flags.json ? `${JSON.stringify(told)}\n` : `${formatTokens(units)} tokens to ${to}: ${state}, ${sent.id}\n`,
  )
  return EXIT.genuine
}
