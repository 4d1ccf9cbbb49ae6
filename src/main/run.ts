import { TouchstoneError } from '../ports/errors.ts'
import { EXIT } from './exitCodes.ts'
import { fault } from './faults.ts'
import { openTerminal } from './render/terminal.ts'
import { wrap } from './render/wrap.ts'

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

/** Longer than any clean-up takes: what is not done by then is left as it is. */
const CLEAN_UP_MS = 30_000
/** A command that has ended has ended, whatever it left open. */
const LINGER_MS = 2_000

/** Any: it is never heard. */
const HOLD_MS = 2 ** 30

async function runCommand(command: (signal: AbortSignal) => Promise<number>, json: boolean): Promise<void> {
  const { signal, release } = listen()
  // A wait that nothing would end must not end the program (attack 296): our limits of time hold nobody up by themselves.
  const held = setInterval(() => {}, HOLD_MS)
  try {
    process.exitCode = await command(signal)
  } catch (error) {
    if (signal.aborted) return tell(INTERRUPTED, json)
    process.exitCode = error instanceof TouchstoneError && error.blame === 'user' ? EXIT.usage : EXIT.fault
    tellFault(error, json)
  } finally {
    clearInterval(held)
    release()
    // Whoever started us to talk over a channel says when it is over.
    if (!process.connected) setTimeout(leave, LINGER_MS).unref()
  }
}

/** Only where something still runs; what was said is read to its end first. */
function leave(): void {
  if (process.stdout.writableLength > 0) setTimeout(leave, LINGER_MS).unref()
  else process.exit()
}

type SignalName = keyof typeof SIGNALS

/** The first of these signals is final: it asks the command to clean up. The second, of whatever kind, ends everything. */
function listen(): { readonly signal: AbortSignal; readonly release: () => void } {
  const interrupted = new AbortController()
  let late: NodeJS.Timeout | undefined
  const names = Object.keys(SIGNALS) as SignalName[]
  const onSignal = (name: SignalName): void => {
    if (interrupted.signal.aborted) endNow(name)
    process.exitCode = SIGNALS[name]
    late ??= setTimeout(endNow, CLEAN_UP_MS, name).unref()
    interrupted.abort()
  }
  // From here on a signal does what it does to any program, so that nothing can hold one up.
  const release = (): void => {
    clearTimeout(late)
    clearInterval(watch)
    for (const name of names) process.removeListener(name, onSignal)
  }
  const endNow = (name: SignalName): void => {
    release()
    // What must not outlive us listens to that.
    process.emit('exit', SIGNALS[name])
    process.kill(process.pid, name)
  }
  for (const name of names) process.on(name, onSignal)
  const watch = watchParent(() => onSignal('SIGTERM'))
  return { signal: interrupted.signal, release }
}

const PARENT_MS = 500

/**
 * npm hands a signal to the shell between it and us, which ends by it and leaves us behind: whoever stopped `npx` in the
 * background would go on offering a box. So where npx started us, the end of our parent is a signal too.
 */
function watchParent(onGone: () => void): NodeJS.Timeout | undefined {
  if (process.env.npm_lifecycle_event !== 'npx') return undefined
  const parent = process.ppid
  const watch = setInterval(() => {
    if (process.ppid === parent) return
    clearInterval(watch)
    onGone()
  }, PARENT_MS).unref()
  return watch
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
  const { line, colours, columns, isLive } = openTerminal(process.stderr, process.env)
  const fitted = (text: string): string => (isLive ? wrap(text, columns - 2, columns - 7).join('\n  ') : text)
  // Whoever pressed Ctrl-C knows what comes next.
  if (told === INTERRUPTED) return void line(told.message)
  line(`${colours.red('error')}: ${fitted(`${told.message} [${told.code}]`)}`)
  line(`${colours.dim('next')}: ${fitted(told.nextStep)}`)
}
