import { TouchstoneError } from '../ports/errors.ts'
import { EXIT } from './exitCodes.ts'
import { fault } from './faults.ts'
import { openTerminal } from './render/terminal.ts'

export interface CommandContext {
  readonly env: NodeJS.ProcessEnv
  /** Runs a command to its exit code; the signal fires on Ctrl-C and on a polite kill. */
  run(command: (signal: AbortSignal) => Promise<number>): Promise<void>
}

/** Shells expect 128 + the signal's number. */
const SIGNALS = { SIGINT: 130, SIGTERM: 143, SIGHUP: 129 } as const

export function commandContext(json: boolean): CommandContext {
  return { env: process.env, run: (command) => runCommand(command, json) }
}

async function runCommand(command: (signal: AbortSignal) => Promise<number>, json: boolean): Promise<void> {
  const interrupted = new AbortController()
  for (const name of Object.keys(SIGNALS) as (keyof typeof SIGNALS)[])
    process.once(name, () => {
      process.exitCode = SIGNALS[name]
      interrupted.abort()
    })
  try {
    process.exitCode = await command(interrupted.signal)
  } catch (error) {
    if (interrupted.signal.aborted) return tell(INTERRUPTED, json)
    process.exitCode = error instanceof TouchstoneError && error.blame === 'user' ? EXIT.usage : EXIT.fault
    tellFault(error, json)
  }
}

/** A sentence may name a file, a host or a field that somebody else chose: whatever it holds, it moves no cursor. */
const plain = (text: string): string => text.replace(/\s+/g, ' ').replace(/\p{C}/gu, '?')

/** A fault as a person or a script is told it. */
export function faultOf(error: unknown) {
  const why = error instanceof Error ? error.message : 'something unknown went wrong'
  const { detail, message, blame, retry, nextStep } =
    error instanceof TouchstoneError ? error : fault('UNEXPECTED', { why })
  return { code: plain(detail.code), message: plain(message), blame, retry, nextStep: plain(nextStep) }
}

const INTERRUPTED = faultOf(fault('INTERRUPTED'))

/** A fault that the command goes on after, or ends with. */
export function tellFault(error: unknown, json = false): void {
  tell(faultOf(error), json)
  if (process.env.TOUCHSTONE_DEBUG && !(error instanceof TouchstoneError) && error instanceof Error)
    console.error(error.stack ?? '')
}

/** One sentence, the code, the next step; never a stack trace. With --json one object on standard output. */
function tell(told: ReturnType<typeof faultOf>, json: boolean): void {
  if (json) return void process.stdout.write(`${JSON.stringify({ error: told })}\n`)
  const { line, colours } = openTerminal(process.stderr, process.env)
  // Whoever pressed Ctrl-C knows what comes next.
  if (told === INTERRUPTED) return void line(told.message)
  line(`${colours.red('error')}: ${told.message} [${told.code}]`)
  line(`${colours.dim('next')}: ${told.nextStep}`)
}
