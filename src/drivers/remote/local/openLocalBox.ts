import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { constants } from 'node:os'
import { lastWords } from '../../../core/bytes/printable.ts'
import type { ProverEnd, ProverProcess, RemoteBox } from '../../../ports/remoteBox.ts'
import { inTime } from '../../system/inTime.ts'
import { keepLastWords } from '../keepLastWords.ts'

interface LocalBoxOptions {
  /** Program and arguments of the prover. */
  readonly command: readonly string[]
  readonly env: NodeJS.ProcessEnv
  /** Where the prover's standard error goes: its end is kept, or all of it goes to our own for debugging. */
  readonly errors?: 'keep' | 'inherit'
  readonly graceMs?: number
}

/** How long the rest of its standard error may take after its end. */
const LAST_WORDS_MS = 250

/** How long a prover gets to end by itself when its input closes. */
const GRACE_MS = 3000

/** This very machine: the prover is a child process that ends with us. */
export function openLocalBox(options: LocalBoxOptions): RemoteBox {
  const running = new Set<ProverProcess>()
  return {
    address: 'this machine',
    access: {},
    install: async () => {},
    start: async (signal) => {
      const prover = startProver(options, signal)
      running.add(prover)
      void prover.ended.then(() => running.delete(prover))
      return prover
    },
    close: async () => {
      await Promise.all([...running].map((prover) => prover.stop()))
    },
  }
}

function startProver(
  { command, env, errors = 'keep', graceMs = GRACE_MS }: LocalBoxOptions,
  signal: AbortSignal,
): ProverProcess {
  const [program, ...args] = command
  // A group of its own: Ctrl-C in the terminal reaches us alone, and we end the child in order.
  const child = spawn(program!, args, {
    env,
    stdio: ['pipe', 'pipe', errors === 'keep' ? 'pipe' : errors],
    detached: true,
  })
  const ended = endOf(child)
  child.stdin!.on('error', () => {})
  const stop = () => stopChild(child, ended, graceMs)
  const onAbort = () => void stop()
  const killNow = () => killGroup(child)
  signal.addEventListener('abort', onAbort, { once: true })
  process.once('exit', killNow)
  void ended.then(() => {
    signal.removeEventListener('abort', onAbort)
    process.removeListener('exit', killNow)
  })
  return { write: (bytes) => write(child, ended, bytes), output: outputOf(child), ended, stop }
}

function endOf(child: ChildProcess): Promise<ProverEnd> {
  const said = child.stderr ? keepLastWords(child.stderr) : () => ''
  const heard = new Promise((resolve) => (child.stderr ? child.stderr.once('close', resolve) : resolve(null)))
  return new Promise((resolve) => {
    child.once('exit', async (code, signal) => {
      // At once, while no other process can have got the group's number: what the prover started ends with it.
      killGroup(child)
      // Somebody who has left the group may hold its standard error open for ever.
      await inTime(heard, LAST_WORDS_MS, () => {})
      resolve({ code: code ?? 128 + constants.signals[signal!], lost: false, said: said() })
    })
    child.once('error', (error) => resolve({ code: null, lost: false, said: lastWords(error.message) }))
  })
}

async function* outputOf(child: ChildProcess): AsyncGenerator<Uint8Array> {
  try {
    for await (const chunk of child.stdout!) yield chunk as Uint8Array
  } catch {
    // A broken pipe is the end of the output; `ended` says how the process went.
  }
}

async function write(child: ChildProcess, ended: Promise<unknown>, bytes: Uint8Array): Promise<void> {
  if (child.exitCode !== null || !child.stdin!.writable) throw new Error('the prover has ended')
  if (!child.stdin!.write(bytes)) await Promise.race([once(child.stdin!, 'drain'), ended])
}

async function stopChild(child: ChildProcess, ended: Promise<unknown>, graceMs: number): Promise<void> {
  child.stdin!.end()
  await inTime(ended, graceMs, () => killGroup(child))
  await ended
  child.stdout!.destroy()
  child.stderr?.destroy()
}

/** The prover and everything it started, unless that has left the group. */
function killGroup({ pid }: ChildProcess): void {
  if (pid === undefined) return
  try {
    process.kill(-pid, 'SIGKILL')
  } catch {
    // Nobody is left in it.
  }
}
