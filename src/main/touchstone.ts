#!/usr/bin/env node
import { Command, CommanderError } from 'commander'
import { joinPasted } from '../drivers/remote/ssh/sshTarget.ts'
import { COMMANDS } from './commands.ts'
import { EXIT } from './exitCodes.ts'
import { fault } from './faults.ts'
import { holdToTyped } from './holdToTyped.ts'
import { asTyped } from './render/asTyped.ts'
import { commandContext, tellFault } from './run.ts'
import { version } from './version.ts'

// The exit code is the answer whoever still reads (attack 114): a run goes on where nobody does. A reader that has seen
// enough (`| head`) is nobody's fault, but an answer that could not be written is never a yes.
// Nor is the end of a program whose command has not ended (attack 296).
let [isAnswerLost, hasEnded] = [false, false]
process.stderr.on('error', () => {})
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') isAnswerLost = true
})
process.on('exit', (code) => {
  if ((isAnswerLost || !hasEnded) && code === EXIT.genuine) process.exitCode = EXIT.fault
})

const AFTER_HELP = `
Every command takes --help; those that do something take --json for scripts.
Start here:
  you rent a box    touchstone verify root@203.0.113.7 --claim "8x H100 SXM"
  you sell one      touchstone provider --allow anyone --ssh-host NAME
  you run many      touchstone validator --config validator.yaml
  you train on one  touchstone bench
A guide for each is in docs/guides.`

const program = new Command('touchstone')
  .description('Proves what a GPU is and what it did.')
  .version(version, '-v, --version', 'print the version')
  .enablePositionalOptions()
  .addHelpText('after', AFTER_HELP)
// Known before the command line is parsed, since parsing may be what fails.
const end = process.argv.indexOf('--')
const json = process.argv.slice(2, end < 0 ? undefined : end).includes('--json')
const typed = asTyped(process.env)
program.configureOutput({
  writeOut: (text) => process.stdout.write(typed(text)),
  writeErr: (text) => !json && process.stderr.write(typed(text)),
  // What commander would print is in its exception too, which is told below as any other fault.
  outputError: () => {},
})
/** Words that ask to be told something, and how. */
const TELLING = ['-v', '--version', '-h', '--help', 'help', '--json']
const named = process.argv[2] ?? ''
const isVersion = named === '-v' || named === '--version'
const wanted = Object.hasOwn(COMMANDS, named) ? [named] : isVersion ? [] : Object.keys(COMMANDS)
for (const name of wanted) (await COMMANDS[name]!())(program, commandContext(json))
holdToTyped(program, json)

/** A mistake in a command leads to the help of that very one, however deep it lies. */
let refusing = program.name()
noteRefusals(program, refusing)

function noteRefusals(command: Command, path: string): void {
  command.exitOverride((error) => {
    refusing = path
    throw error
  })
  for (const inner of command.commands) noteRefusals(inner, `${path} ${inner.name()}`)
}

/**
 * Whether the version, or the help of a command, is all that was asked for. Who means "more of it" by -v, or has a file
 * that is called --help, gets no yes to what was never looked at (attack 279).
 */
function isAllAsked(isVersion: boolean): boolean {
  const others = process.argv.slice(2).filter((word) => !TELLING.includes(word))
  if (isVersion) return others.length === 0
  let within: Command | undefined = program
  for (const name of others) within = within?.commands.find((command) => command.name() === name)
  return within !== undefined
}

/** Help is text, also where JSON is asked for. */
const withoutJson = (words: readonly string[]): string[] => words.filter((word) => word !== '--json')

/** What commander refuses, in a sentence; null where no command was named, since the help that it shows says it all. */
function refusalOf({ code, message }: CommanderError): string | null {
  if (code !== 'commander.help') return message.replace(/^error: /, '')
  const asked = process.argv.indexOf('help') + 1
  return asked === 0 ? null : `there is no command "${withoutJson(process.argv.slice(asked))[0]}"`
}

try {
  const words = named === 'help' ? withoutJson(process.argv) : process.argv
  await program.parseAsync(named === 'verify' ? joinPasted(words) : words)
} catch (error) {
  if (!(error instanceof CommanderError)) throw error
  const isAll = error.exitCode === 0 && isAllAsked(error.code === 'commander.version')
  process.exitCode = isAll ? EXIT.genuine : EXIT.usage
  const help = `${refusing} --help`
  if (error.exitCode === 0 && !isAll)
    tellFault(fault('USAGE', { why: 'beside --help and --version nothing is done: nothing was checked', help }), json)
  const why = error.exitCode === 0 ? null : refusalOf(error)
  if (why !== null) tellFault(fault('USAGE', { why, help }), json)
}
hasEnded = true
