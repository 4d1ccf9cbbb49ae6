import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { type Command, Option } from 'commander'
import { dataFolder } from '../../drivers/system/xdgFolders.ts'
import { DEVNET_ACCOUNT, GENESIS_FILE } from '../chain/nodeOption.ts'
import { addText, reader, readWhole, refuseUnused } from '../parseOptions.ts'
import type { CommandContext } from '../run.ts'
import { PASSWORD_OPTION } from '../wallet/walletPassword.ts'
import type { ApiPlace } from './openNodeApi.ts'

/** What the command line says. */
export interface NodeFlags {
  readonly data: string
  readonly host: string
  readonly port: number
  readonly bootstrap: readonly string[]
  readonly genesis?: string
  readonly authorities: number
  readonly key?: string
  readonly checkpoint?: string
  readonly prune?: boolean
  readonly drill?: boolean
  readonly discovery: boolean
  readonly api: ApiPlace
  readonly passwordFile?: string
  readonly json?: boolean
}

export function addNodeCommand(program: Command, context: CommandContext): void {
  program
    .command('node')
    .description('follow our chain: check, make and spread its blocks')
    .option('--data <folder>', 'chain, genesis and name of this node', join(dataFolder(context.env), 'node'))
    .option(
      '--host <address>',
      'where to listen for other nodes: everywhere, or 127.0.0.1 for this machine alone',
      '0.0.0.0',
    )
    .option('--port <port>', 'where to listen; 0 takes any that is free', readWhole(0, 65_535), 4040)
    .addOption(
      new Option(
        '--bootstrap <address>',
        'a node to stay connected with, as host:port or as it shows itself; may be repeated',
      )
        .argParser(addText)
        .default([], 'none'),
    )
    .option('--genesis <file>', 'the chain, as JSON, or "devnet"')
    .option('--authorities <count>', 'a new devnet: how many of its accounts make blocks', readWhole(1, 64), 1)
    .option('--key <account>', 'who makes blocks and votes here: a wallet or a file, devnet:NUMBER, or none')
    .option(...PASSWORD_OPTION)
    .option(
      '--api <place>',
      'host:port where its HTTP API answers (default: 127.0.0.1:8788, or what is free)',
      readPlace,
    )
    .option('--no-api', 'serve no HTTP')
    .option(
      '--checkpoint <hash>',
      'begin an empty folder with this block, which people you trust have named; any other must have it',
      readHash,
    )
    .option('--drill', 'do the tasks that the chain draws this machine for, and earn by it')
    .option('--prune', 'keep the blocks of a week (168 epochs) before the last final one, and no older ones')
    .option('--no-discovery', 'do not look for nodes on the local network')
    .option('--json', 'print events as JSON, one per line')
    .addHelpText('after', AFTER_HELP)
    .action((flags: NodeFlags, command: Command) => {
      const { key = '', genesis = 'devnet' } = flags
      if (key === 'none') refuseUnused(command, ['drill'], 'with --key none')
      if (key === 'none' || DEVNET_ACCOUNT.test(key)) refuseUnused(command, ['passwordFile'], 'without a wallet')
      if (flags.bootstrap.length > 0 || genesis !== 'devnet' || existsSync(join(flags.data, GENESIS_FILE)))
        refuseUnused(command, ['authorities'], 'but for a devnet that begins here')
      return context.run(async (signal) => (await import('./runNode.ts')).runNode(flags, context, signal))
    })
}

const readHash = reader('Use the 64 hex digits of a block.', (text) => (/^[0-9a-f]{64}$/.test(text) ? text : null))

const readPlace = reader('Use host:port.', (text) => {
  const [, host, port] = /^(\[[0-9a-fA-F:]+\]|[A-Za-z0-9.-]+):([0-9]{1,5})$/.exec(text) ?? []
  return host === undefined || Number(port) > 65_535 ? null : { host: host.replace(/[[\]]/g, ''), port: Number(port) }
})

const AFTER_HELP = `
Without options it begins a devnet of its own, or goes on with the chain in its
folder. With --bootstrap an empty folder joins the devnet of that node. The keys
of devnet accounts are known to everybody. A file with a key is a wallet, or
holds its secret as 64 hex digits: keep it where nobody else can read it. Look
around with "touchstone chain". With --drill and no --key the folder gets an
account of its own. Runs until Ctrl-C.

Examples:
  touchstone node
  touchstone node --data second --port 4041 --bootstrap 127.0.0.1:4040`
