import type { Command } from 'commander'
import { loadSigners } from '../../drivers/system/loadSigners.ts'
import { dataFolder } from '../../drivers/system/xdgFolders.ts'
import { readChain } from '../chain/nodeOption.ts'
import { EXIT } from '../exitCodes.ts'
import { addKey, readDuration, reader, readNumber, readWhole, refuseUnused, repeated } from '../parseOptions.ts'
import type { CommandContext } from '../run.ts'
import { ownKey, system } from '../system.ts'
import { PASSWORD_OPTION, type PasswordFlags } from '../wallet/walletPassword.ts'
import { checkProofFile, type ProofFlags } from './checkProofFile.ts'

interface DeployFlags extends PasswordFlags {
  readonly rpc: string
  readonly chainId: number
  readonly key: string
  readonly maxFee: number
  readonly json?: boolean
}

const print = (text: string): void => void process.stdout.write(`${text}\n`)

const readUrl = reader('Use an address such as https://rpc.example.org.', (text) =>
  URL.canParse(text) && /^https?:$/.test(new URL(text).protocol) ? text : null,
)

const readContract = reader('Use 0x and 40 hex digits.', (text) =>
  /^0x[0-9a-fA-F]{40}$/.test(text) ? text.toLowerCase() : null,
)

const addUrl = repeated(readUrl)

const AFTER_HELP = `
A validator publishes the root of each round to the ledger that its settings
name (docs/guides/operator.md). What a score was is then provable forever.

Examples:
  touchstone ledger deploy --rpc http://127.0.0.1:8545 --chain-id 31337 --key evm.key
  touchstone ledger check proof.json --trust KEY --box box-1 --max-age 24h`

/** `touchstone ledger`: the contract on another chain, and proofs of published scores. */
export function addLedgerCommand(program: Command, context: CommandContext): void {
  const ledger = program
    .command('ledger')
    .description('publish the rounds of a validator on another chain, and check a published score')
    .addHelpText('after', AFTER_HELP)
  ledger
    .command('deploy')
    .description('make the contract that takes rounds on an EVM chain')
    .requiredOption('--rpc <url>', 'a node of the chain', readUrl)
    .requiredOption('--chain-id <number>', 'which chain it must be', readWhole(1, Number.MAX_SAFE_INTEGER))
    .requiredOption('--key <file>', 'the account that pays: a wallet, or a file with 64 hex digits')
    .option('--max-fee <gwei>', 'the most that a unit of gas may cost', readNumber(0, 1_000_000), 100)
    .option('--json', 'print JSON')
    .option(...PASSWORD_OPTION)
    .action((flags: DeployFlags) => context.run((signal) => deploy(flags, context.env, signal)))
  ledger
    .command('check <file>')
    .description('check the proof of a score, or a whole round, offline; with --rpc or --node also on a chain')
    .option('--trust <key>', 'public key of a validator you trust, hex; may be repeated', addKey)
    .option('--box <id>', 'refuse what has no score of this box')
    .option('--max-age <duration>', 'refuse a round that was closed longer ago, for example 24h or 7d', readDuration)
    .option(
      '--revoked <file>',
      'signers that ended, besides those in revoked.json beside your keys, which alone names successors',
    )
    .option('--certificate <file>', 'the certificate that the score must have been earned with')
    .option('--rpc <url>', 'also ask this node whether it was published; may be repeated, and all must agree', addUrl)
    .option(
      '--node <url>',
      'also ask this node of our own chain: that the chain has it is then the word of the node',
      readUrl,
    )
    .option('--chain <hash>', 'which chain of ours it must be, as "chain head" of a node of yours shows it', readChain)
    .option('--chain-id <number>', 'which chain it must be', readWhole(1, Number.MAX_SAFE_INTEGER))
    .option('--contract <address>', 'where the contract is', readContract)
    .option('--publisher <address>', 'the account that the validator publishes from', readContract)
    .option(
      '--depth <blocks>',
      'blocks on top that make it final, where the chain has no word for it',
      readWhole(1, 100_000),
    )
    .option('--json', 'print JSON')
    .action((file: string, flags: ProofFlags, command: Command) => {
      if (flags.node === undefined) refuseUnused(command, ['chain'], 'without --node')
      if (flags.rpc === undefined) refuseUnused(command, ['chainId', 'contract', 'publisher', 'depth'], 'without --rpc')
      return context.run(async (signal) => {
        const named = [ownKey(context.env, 'validator').publicKey, ...(flags.trust ?? [])]
        const reader = {
          nowMs: system.clock.wallTime().getTime(),
          ...loadSigners(named, flags.revoked, dataFolder(context.env)),
        }
        const told = await checkProofFile(file, flags, reader, signal)
        print(flags.json ? JSON.stringify(told) : told.lines.join('\n'))
        if (told.problem !== null) return EXIT.rejected
        return told.doubt === null ? EXIT.genuine : EXIT.notEstablished
      })
    })
}

async function deploy(flags: DeployFlags, env: NodeJS.ProcessEnv, signal: AbortSignal): Promise<number> {
  const { rpc, chainId, key, maxFee, json } = flags
  const { deployRounds } = await import('../../drivers/ledger/evm/deployRounds.ts')
  const { readEvmAccount } = await import('./openLedger.ts')
  const account = await readEvmAccount(key, flags, env, signal)
  const settings = { urls: [rpc], chainId, maxFeeGwei: maxFee }
  const made = await deployRounds(settings, account, system.clock, signal)
  const told = { ...made, publisher: account.address }
  print(json ? JSON.stringify(told) : `contract: ${made.contract}\npublisher: ${account.address}`)
  return EXIT.genuine
}
