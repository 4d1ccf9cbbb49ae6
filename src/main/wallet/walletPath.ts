import { join } from 'node:path'
import { dataFolder } from '../../drivers/system/xdgFolders.ts'
import { fault } from '../faults.ts'

export const isWalletName = (name: string): boolean => /^[a-z0-9][a-z0-9-]{0,31}$/.test(name)

export const walletFolder = (env: NodeJS.ProcessEnv): string => join(dataFolder(env), 'wallets')

/** Where the wallet of this name lies. */
export function walletPath(env: NodeJS.ProcessEnv, name: string): string {
  if (!isWalletName(name)) throw fault('BAD_WALLET_NAME', { name })
  return join(walletFolder(env), `${name}.json`)
}
