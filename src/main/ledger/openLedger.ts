import { resolve } from 'node:path'
import { fromHex } from '../../core/bytes/hex.ts'
import { type EvmAccount, evmAccount } from '../../drivers/ledger/evm/evmAccount.ts'
import { evmLedger } from '../../drivers/ledger/evm/evmLedger.ts'
import { fault } from '../../drivers/ledger/faults.ts'
import { fileLedger } from '../../drivers/ledger/fileLedger.ts'
import { readRegularFile } from '../../drivers/system/readRegularFile.ts'
import type { Ledger } from '../../ports/ledger.ts'
import type { ValidatorConfig } from '../validator/validatorConfig.ts'

/** The ledger that validator.yaml names; paths start at its folder. */
export async function openLedger(settings: NonNullable<ValidatorConfig['ledger']>, base: string): Promise<Ledger> {
  if (settings.kind === 'file') return fileLedger(resolve(base, settings.folder))
  return evmLedger(settings, readEvmAccount(resolve(base, settings.key)))
}

const MOST_BYTES = 1024

/** The account whose secret a file holds: 64 hex digits, with or without 0x. */
export function readEvmAccount(path: string): EvmAccount {
  try {
    const read = readRegularFile(path, MOST_BYTES)
    const text = typeof read === 'number' ? '' : Buffer.from(read).toString('latin1').trim()
    return evmAccount(fromHex(text.toLowerCase().replace(/^0x/, ''), 32)!)
  } catch (cause) {
    throw fault('LEDGER_BAD_KEY', { path }, cause)
  }
}
