import { type Command, Option } from 'commander'
import type { CommandContext } from '../run.ts'
import type { ChainFlags, ChainView } from './chainViews.ts'
import { NODE_OPTION } from './nodeOption.ts'

const AFTER_HELP = `
Accounts and scores come with light proofs, which are checked here against the
header of a block: a node can leave things out, but invent none. Which block is
final is the word of the node; ask two that know nothing of each other.

Examples:
  touchstone chain head
  touchstone chain account KEY --node https://node.example.org`

/** `touchstone chain`: looks around on our chain. */
export function addChainCommand(program: Command, context: CommandContext): void {
  const chain = program
    .command('chain')
    .description('explore our chain: its head, blocks, accounts and scores')
    .addHelpText('after', AFTER_HELP)
  const add = (usage: string, description: string, view: ChainView) =>
    chain
      .command(usage)
      .description(description)
      .option(...NODE_OPTION)
      .option('--json', 'print JSON')
      .action((...given: unknown[]) => {
        const command = given.at(-1) as Command
        return context.run(async (signal) => {
          const { showChain } = await import('./chainViews.ts')
          return await showChain(view, command.opts<ChainFlags>(), command.args[0] ?? '', signal)
        })
      })
  const at = () =>
    new Option('--at <state>', 'after the tip, or after the last final block')
      .choices(['head', 'final'])
      .default('final')
  add('head', 'which chain it is, its head and its last final block', 'head')
  add('block <name>', 'a block: its hash, its height, "head" or "final"', 'block')
  add('account <key>', 'what an account has', 'account').addOption(at())
  add('score <box>', 'the score of a box on the chain, by its key', 'score').addOption(at())
  add('projects', 'projects and what they ask for', 'projects').addOption(at())
  add('works', 'works under way: who was drawn, and what is due', 'works').addOption(at())
  add('work <id>', 'one work under way, with each of its replicas', 'work').addOption(at())
  add('watch', 'every new head and final block, until Ctrl-C', 'watch')
}
