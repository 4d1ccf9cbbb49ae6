import { Command, CommanderError } from 'commander'
import { vi } from 'vitest'
import * as vendor from '../../src/drivers/system/checkVendorSignature.ts'
import * as catalogues from '../../src/drivers/system/loadCatalogue.ts'
import { systemClock } from '../../src/drivers/system/systemClock.ts'
import * as cores from '../../src/drivers/system/usableCores.ts'
import { addCheckCommand } from '../../src/main/check/checkCommand.ts'
import { addLedgerCommand } from '../../src/main/ledger/ledgerCommand.ts'
import { addRentCommand } from '../../src/main/rent/rentCommand.ts'
import { addReportCommand } from '../../src/main/report/reportCommand.ts'
import type { CommandContext } from '../../src/main/run.ts'
import { TouchstoneError } from '../../src/ports/errors.ts'
import { rememberingChecker } from './attest/flips.ts'

/** What a command ended with, the code of the fault that ended it, and what stood on its standard output. */
export interface End {
  readonly exit: number
  readonly fault: string | null
  readonly stdout: string
}

/** Options of a command line by their names; one that is given twice has two values, and one that takes none has none. */
export type Given = Readonly<Record<string, readonly string[]>>

/** The commands that judge files. */
const OF_FILES = [addCheckCommand, addReportCommand, addRentCommand, addLedgerCommand]

/** These commands; they end as `run.ts` has them end. */
function programOf(
  env: NodeJS.ProcessEnv,
  ended: (end: Omit<End, 'stdout'>) => void,
  adders: typeof OF_FILES = OF_FILES,
): Command {
  const { signal } = new AbortController()
  const run: CommandContext['run'] = async (command) => {
    try {
      ended({ exit: await command(signal), fault: null })
    } catch (error) {
      if (!(error instanceof TouchstoneError)) throw error
      ended({ exit: error.blame === 'user' ? 2 : 3, fault: error.detail.code })
    }
  }
  const program = new Command('touchstone').exitOverride().configureOutput({ writeOut: () => {}, writeErr: () => {} })
  for (const add of adders) add(program, { env, run })
  return program
}

/** Options of a command by their names, as commander knows them. */
export function optionsOf(...path: readonly string[]): readonly string[] {
  let command = programOf({}, () => {})
  for (const name of path) command = command.commands.find((one) => one.name() === name)!
  return command.options.map(({ long }) => long!.slice(2))
}

const read = new Map<string, ReturnType<typeof catalogues.loadCatalogue>>()
const load = catalogues.loadCatalogue
const check = rememberingChecker(vendor.checkVendorSignature)

/** It is heard here alone, it is this time, one thread does all of it, and what others read before is not read again. */
const standIns = (nowMs: number, onWords: (words: string) => void) => [
  vi.spyOn(process.stderr, 'write').mockReturnValue(true),
  vi.spyOn(process.stdout, 'write').mockImplementation((words) => {
    onWords(String(words))
    return true
  }),
  vi.spyOn(systemClock, 'wallTime').mockImplementation(() => new Date(nowMs)),
  vi.spyOn(cores, 'usableCores').mockReturnValue(1),
  vi.spyOn(vendor, 'checkVendorSignature').mockImplementation(check),
  vi
    .spyOn(catalogues, 'loadCatalogue')
    .mockImplementation((path) => read.get(path) ?? read.set(path, load(path)).get(path)!),
]

interface Surroundings {
  readonly env: NodeJS.ProcessEnv
  readonly nowMs: number
  /** The commands there are, where not those that judge files. */
  readonly adders?: typeof OF_FILES
}

/** Runs a command in this process: hundreds of them take seconds. */
export async function runCommand(
  words: readonly string[],
  given: Given,
  { env, nowMs, adders }: Surroundings,
): Promise<End> {
  const end = { exit: -1, fault: null, stdout: '' }
  const spies = standIns(nowMs, (words) => {
    end.stdout += words
  })
  try {
    const program = programOf(env, (found) => Object.assign(end, found), adders)
    await program.parseAsync(['node', 'touchstone', ...words, ...wordsOf(given)])
    return end
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error
    return { ...end, exit: 2, fault: 'USAGE' }
  } finally {
    for (const spy of spies) spy.mockRestore()
  }
}

const wordsOf = (given: Given): string[] =>
  Object.entries(given).flatMap(([name, values]) =>
    values.length === 0 ? [`--${name}`] : values.flatMap((value) => [`--${name}`, value]),
  )
