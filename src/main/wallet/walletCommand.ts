import { existsSync, readdirSync } from 'node:fs'
import { type Command, Option } from 'commander'
import { fromHex, toHex } from '../../core/bytes/hex.ts'
import { nativeSigner } from '../../drivers/system/nativeSigner.ts'
import { readRegularFile } from '../../drivers/system/readRegularFile.ts'
import {
  changePassword,
  createWallet,
  openWallet,
  readWallet,
  type WalletFacts,
} from '../../drivers/wallet/walletFile.ts'
import { CHAIN_OPTION, NODE_OPTION } from '../chain/nodeOption.ts'
import { EXIT } from '../exitCodes.ts'
import { fault } from '../faults.ts'
import type { CommandContext } from '../run.ts'
import { system } from '../system.ts'
import type { SendFlags } from './sendCommand.ts'
import { choosePassword, PASSWORD_OPTION, type PasswordFlags, readPassword } from './walletPassword.ts'
import { isWalletName, walletFolder, walletPath } from './walletPath.ts'

interface NewFlags extends PasswordFlags {
  readonly kind: WalletFacts['kind']
  readonly from?: string
  readonly json?: boolean
}

interface ChangeFlags extends PasswordFlags {
  readonly newPasswordFile?: string
}

const MAIN = 'main'
const NAME_ARGUMENT = ['[name]', 'its name', MAIN] as const

const print = (text: string): void => void process.stdout.write(`${text}\n`)

const AFTER_HELP = `
A wallet is a file that holds one key, sealed with your password. No command
prints the key. Keep a copy of the file and remember the password: nobody can
help without both. docs/spec/wallet.md describes the file.

Examples:
  touchstone wallet new
  touchstone wallet show`

/** `touchstone wallet`: keys of accounts, encrypted at rest. */
export function addWalletCommand(program: Command, context: CommandContext): void {
  const wallet = program
    .command('wallet')
    .description('keys of accounts on our chain and on others, sealed with a password')
    .addHelpText('after', AFTER_HELP)
  wallet
    .command('new')
    .description('make a key and seal it')
    .argument(...NAME_ARGUMENT)
    .addOption(
      new Option('--kind <kind>', 'of our chain, or of an EVM chain')
        .choices(['touchstone', 'evm'])
        .default('touchstone'),
    )
    .option('--from <file>', 'seal this key, 64 hex digits in a file, in place of a new one')
    .option(...PASSWORD_OPTION)
    .option('--json', 'print JSON')
    .action((name: string, flags: NewFlags) => context.run((signal) => newWallet(name, flags, context.env, signal)))
  wallet
    .command('show')
    .description('the account of a wallet; no password is needed')
    .argument(...NAME_ARGUMENT)
    .option('--json', 'print JSON')
    .action((name: string, { json }: { json?: boolean }) =>
      context.run(async () => show(walletPath(context.env, name), json)),
    )
  wallet
    .command('list')
    .description('every wallet of this user')
    .option('--json', 'print JSON')
    .action(({ json }: { json?: boolean }) => context.run(async () => list(context.env, json)))
  wallet
    .command('send')
    .description('pay from a wallet on our chain')
    .argument('<to>', 'public key of the account that is paid')
    .argument('<amount>', 'tokens, such as 12.5')
    .option('--from <name>', 'the wallet', MAIN)
    .option(...NODE_OPTION)
    .option(...CHAIN_OPTION)
    .option('--wait', 'until it is in a final block')
    .option(...PASSWORD_OPTION)
    .option('--json', 'print JSON')
    .action((to: string, amount: string, flags: SendFlags) =>
      context.run(async (signal) =>
        (await import('./sendCommand.ts')).send({ to, amount }, flags, context.env, signal),
      ),
    )
  wallet
    .command('password')
    .description('seal a wallet with another password')
    .argument(...NAME_ARGUMENT)
    .option(...PASSWORD_OPTION)
    .option('--new-password-file <file>', 'file whose first line is the new password (else: asked for)')
    .action((name: string, flags: ChangeFlags) => context.run((signal) => change(name, flags, context.env, signal)))
}

async function newWallet(name: string, flags: NewFlags, env: NodeJS.ProcessEnv, signal: AbortSignal): Promise<number> {
  const path = walletPath(env, name)
  const secret = flags.from === undefined ? system.randomness.bytes(32) : readSecret(flags.from)
  const account = await accountOf(flags.kind, secret)
  const password = await choosePassword(flags, env, signal)
  await createWallet(path, { kind: flags.kind, account, secret, password }, system)
  secret.fill(0)
  print(
    flags.json
      ? JSON.stringify({ kind: flags.kind, account, path })
      : `account: ${account}\nsealed in ${path}: keep a copy of it`,
  )
  return EXIT.genuine
}

async function accountOf(kind: WalletFacts['kind'], secret: Uint8Array): Promise<string> {
  if (kind === 'touchstone') return toHex(nativeSigner(secret).publicKey)
  const { evmAccount } = await import('../../drivers/ledger/evm/evmAccount.ts')
  return evmAccount(secret).address
}

function readSecret(path: string): Uint8Array {
  try {
    const read = readRegularFile(path, 1024)
    const text = typeof read === 'number' ? '' : Buffer.from(read).toString('latin1').trim()
    return new Uint8Array(fromHex(text.toLowerCase().replace(/^0x/, ''), 32)!)
  } catch (cause) {
    throw fault('NOT_A_SECRET', { path }, cause)
  }
}

function show(path: string, json = false): number {
  const facts = readWallet(path)
  print(json ? JSON.stringify({ ...facts, path }) : facts.account)
  return EXIT.genuine
}

function list(env: NodeJS.ProcessEnv, json = false): number {
  const folder = walletFolder(env)
  const names = (existsSync(folder) ? readdirSync(folder) : [])
    .filter((file) => file.endsWith('.json') && isWalletName(file.slice(0, -5)))
    .map((file) => file.slice(0, -5))
    .sort()
  const wallets = names.map((name) => ({ name, ...readWallet(walletPath(env, name)) }))
  if (json) print(JSON.stringify(wallets))
  else
    print(
      wallets.map(({ name, kind, account }) => `${name}  ${kind}  ${account}`).join('\n') ||
        'no wallet yet: touchstone wallet new',
    )
  return EXIT.genuine
}

async function change(name: string, flags: ChangeFlags, env: NodeJS.ProcessEnv, signal: AbortSignal): Promise<number> {
  const path = walletPath(env, name)
  const before = await readPassword(flags, env, signal)
  // Known before anybody thinks of a new one.
  await openWallet(path, before)
  const { newPasswordFile } = flags
  const chosen = newPasswordFile === undefined ? {} : { passwordFile: newPasswordFile }
  const after = await choosePassword(chosen, { ...env, TOUCHSTONE_WALLET_PASSWORD: '' }, signal)
  await changePassword(path, before, after, system)
  print(`${path} has its new password`)
  return EXIT.genuine
}
