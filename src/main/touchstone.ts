#!/usr/bin/env node
import { Command, CommanderError } from 'commander'
import { addBenchCommand } from './benchCommand.ts'
import { addCheckCommand } from './checkCommand.ts'
import { EXIT } from './exitCodes.ts'
import { addProviderCommand } from './providerCommand.ts'
import { commandContext } from './run.ts'
import { addVerifyCommand } from './verifyCommand.ts'
import { version } from './version.ts'

// A reader that has seen enough (`| head`) is no fault of ours.
for (const stream of [process.stdout, process.stderr]) stream.on('error', () => process.exit())

const context = commandContext()
const program = new Command('touchstone')
  .description('Proves what a GPU is and what it did.')
  .version(version)
  .exitOverride()
  .showHelpAfterError('(run "touchstone --help" for what there is)')
addVerifyCommand(program, context)
addCheckCommand(program, context)
addBenchCommand(program, context)
addProviderCommand(program, context)

try {
  await program.parseAsync()
} catch (error) {
  if (!(error instanceof CommanderError)) throw error
  process.exitCode = error.exitCode === 0 ? EXIT.genuine : EXIT.usage
}
