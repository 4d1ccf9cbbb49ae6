import type { Command } from 'commander'
import { readWhole, refuseUnused } from '../parseOptions.ts'
import type { CommandContext } from '../run.ts'
import { PASSWORD_OPTION } from '../wallet/walletPassword.ts'
import { CHAIN_OPTION, DEVNET_ACCOUNT, NODE_OPTION } from './nodeOption.ts'
import type { ProjectAct, ProjectFlags } from './projectActs.ts'

const AFTER_HELP = `
A project asks for products of whole numbers (docs/spec/chain.md §5.4). It is
live once accounts with more than half of the weight have voted for it within
a week (168 epochs). Its works are done by accounts that the chain draws. Who
proposes one locks a bond of 10 000 tokens; a work costs 0.01 token.

Examples:
  touchstone project new --work 310 --depth 4 --from devnet:3
  touchstone project vote 1 --utility 1 --from devnet:0
  touchstone project publish 1 --count 8 --from devnet:3`

/** `touchstone project`: proposes, votes for and fills projects whose works the chain has done. */
export function addProjectCommand(program: Command, context: CommandContext): void {
  const project = program
    .command('project')
    .description('work for everyone who drills: propose a project, vote for it, publish its works')
    .addHelpText('after', AFTER_HELP)
  const add = (usage: string, description: string, act: ProjectAct) =>
    project
      .command(usage)
      .description(description)
      .option(...NODE_OPTION)
      .option(...CHAIN_OPTION)
      .requiredOption('--from <account>', 'who signs: the name of a wallet, or devnet:NUMBER')
      .option(...PASSWORD_OPTION)
      .option('--wait', 'until it is final')
      .option('--json', 'print JSON')
      .action((...given: unknown[]) => {
        const command = given.at(-1) as Command
        if (DEVNET_ACCOUNT.test(command.getOptionValue('from')))
          refuseUnused(command, ['passwordFile'], 'without a wallet')
        return context.run(async (signal) => {
          const { actOnProject } = await import('./projectActs.ts')
          return await actOnProject(act, command.opts<ProjectFlags>(), command.args[0] ?? '', context.env, signal)
        })
      })
  add('new', 'propose a project, and lock the bond that it needs', 'new')
    .requiredOption('--work <amount>', 'µut of one of its works', readWhole(1, 1_000_000_000))
    .requiredOption('--depth <number>', 'a result has 2^depth chunks', readWhole(0, 30))
    .option('--about <address>', 'where people read about it', '')
  add('vote <project>', 'vote for a project, or change what it is worth', 'vote').requiredOption(
    '--utility <number>',
    '0, 0.5, 1 or 2',
  )
  add('publish <project>', 'publish works of a live project', 'publish').requiredOption(
    '--count <number>',
    'how many',
    readWhole(1, 1_024),
  )
}
