import { statSync } from 'node:fs'
import { resolve } from 'node:path'
import type { Signer } from '../../core/bytes/ed25519.ts'
import { fromHex } from '../../core/bytes/hex.ts'
import { chainLedger } from '../../drivers/ledger/chainLedger.ts'
import { type EvmAccount, evmAccount } from '../../drivers/ledger/evm/evmAccount.ts'
import { evmLedger } from '../../drivers/ledger/evm/evmLedger.ts'
import { fault } from '../../drivers/ledger/faults.ts'
import { fileLedger } from '../../drivers/ledger/fileLedger.ts'
import { readRegularFile } from '../../drivers/system/readRegularFile.ts'
import { openWallet } from '../../drivers/wallet/walletFile.ts'
import type { Ledger } from '../../ports/ledger.ts'
import { fault as mainFault } from '../faults.ts'
import type { ValidatorConfig } from '../validator/validatorConfig.ts'
import { type PasswordFlags, readPassword, refusePassword } from '../wallet/walletPassword.ts'

/** The ledger that validator.yaml names; paths start at its folder. */
export async function openLedger(
  settings: NonNullable<ValidatorConfig['ledger']>,
  { base, env, signer }: { readonly base: string; readonly env: NodeJS.ProcessEnv; readonly signer: Signer },
  signal: AbortSignal,
): Promise<Ledger> {
  if (settings.kind === 'file') return fileLedger(resolve(base, settings.folder))
  if (settings.kind === 'chain') {
    const { NodeClient } = await import('../chain/nodeClient.ts')
    return chainLedger(new NodeClient(settings.node, settings.chain), signer)
  }
  const { passwordFile } = settings
  const flags = passwordFile === undefined ? {} : { passwordFile: resolve(base, passwordFile) }
  return evmLedger(settings, await readEvmAccount(resolve(base, settings.key), flags, env, signal))
}

const MOST_BYTES = 4096

/** The account whose secret a file holds: a wallet, or 64 hex digits, with or without 0x. */
export async function readEvmAccount(
  path: string,
  flags: PasswordFlags,
  env: NodeJS.ProcessEnv,
  signal: AbortSignal,
): Promise<EvmAccount> {
  let text = ''
  try {
    const read = readRegularFile(path, MOST_BYTES)
    text = typeof read === 'number' ? '' : Buffer.from(read).toString('latin1').trim()
    if (!text.startsWith('{')) {
      refusePassword(flags, path)
      return plainAccount(path, text)
    }
  } catch (cause) {
    if (mainFault.is(cause, 'NOT_SEALED') || fault.is(cause, 'LEDGER_KEY_EXPOSED')) throw cause
    throw fault('LEDGER_BAD_KEY', { path }, cause)
  }
  const { kind, secret } = await openWallet(path, await readPassword(flags, env, signal))
  if (kind !== 'evm') throw fault('LEDGER_BAD_KEY', { path })
  return evmAccount(secret)
}

/** A key that is not sealed is its owner's alone to read. Windows has no such bits. */
function plainAccount(path: string, text: string): EvmAccount {
  if (process.platform !== 'win32' && (statSync(path).mode & 0o077) !== 0) throw fault('LEDGER_KEY_EXPOSED', { path })
  return evmAccount(fromHex(text.toLowerCase().replace(/^0x/, ''), 32)!)
}
