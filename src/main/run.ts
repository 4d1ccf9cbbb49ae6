import { TouchstoneError } from '../ports/errors.ts'
import { EXIT } from './exitCodes.ts'
import { openTerminal } from './render/terminal.ts'

export interface CommandContext {
  readonly env: NodeJS.ProcessEnv
  /** Runs a command to its exit code; the signal fires on Ctrl-C and on a polite kill. */
  run(command: (signal: AbortSignal) => Promise<number>): Promise<void>
}

/** Shells expect 128 + the signal's number. */
const SIGNALS = { SIGINT: 130, SIGTERM: 143, SIGHUP: 129 } as const

export function commandContext(): CommandContext {
  return { env: process.env, run: runCommand }
}

async function runCommand(command: (signal: AbortSignal) => Promise<number>): Promise<void> {
  const interrupted = new AbortController()
  for (const name of Object.keys(SIGNALS) as (keyof typeof SIGNALS)[])
    process.once(name, () => {
      process.exitCode = SIGNALS[name]
      interrupted.abort()
    })
  try {
    process.exitCode = await command(interrupted.signal)
  } catch (error) {
    if (interrupted.signal.aborted) console.error('interrupted; nothing was left behind')
    else process.exitCode = showFault(error)
  }
}

/** One sentence, the code, the next step; never a stack trace. */
export function showFault(error: unknown): number {
  const { line, colours } = openTerminal(process.stderr, process.env)
  if (error instanceof TouchstoneError) {
    line(`${colours.red('error')}: ${plain(error.message)} [${plain(error.detail.code)}]`)
    line(`${colours.dim('next')}: ${plain(error.nextStep)}`)
    return error.blame === 'user' ? EXIT.usage : EXIT.fault
  }
  line(
    `${colours.red('error')}: ${error instanceof Error ? plain(error.message) : 'something unknown went wrong'} [UNEXPECTED]`,
  )
  line(`${colours.dim('next')}: run again with TOUCHSTONE_DEBUG=1 and report what it prints.`)
  if (process.env.TOUCHSTONE_DEBUG && error instanceof Error) line(error.stack ?? '')
  return EXIT.fault
}

/** A sentence may name a file, a host or a field that somebody else chose: whatever it holds, it moves no cursor. */
const plain = (text: string): string => text.replace(/\s+/g, ' ').replace(/\p{C}/gu, '?')
