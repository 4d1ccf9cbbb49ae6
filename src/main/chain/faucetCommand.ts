import { type Command, Option } from 'commander'
import { parseTokens } from '../../core/chain/tokens.ts'
import { reader } from '../parseOptions.ts'
import type { CommandContext } from '../run.ts'
import { NODE_OPTION } from './nodeOption.ts'
import type { FaucetFlags } from './pourTokens.ts'

const readTokens = reader('Use an amount such as 12.5, with at most nine digits behind the point.', (text) => {
  const units = parseTokens(text)
  return units === null || units === 0n ? null : units
})

/** `touchstone faucet`: tokens of a devnet, whose keys are known to all and worth nothing elsewhere. */
export function addFaucetCommand(program: Command, context: CommandContext): void {
  program
    .command('faucet')
    .description('get test tokens, on a devnet only')
    .argument('[account]', 'a public key, or the name of a wallet', 'main')
    .addOption(new Option('--amount <tokens>', 'how many').argParser(readTokens).default(parseTokens('1000'), '1000'))
    .option(...NODE_OPTION)
    .option('--wait', 'until it is in a final block')
    .option('--json', 'print JSON')
    .action((name: string, flags: FaucetFlags) =>
      context.run(async (signal) => (await import('./pourTokens.ts')).pourTokens(name, flags, context.env, signal)),
    )
}
