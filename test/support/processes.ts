import { spawn } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import type { ProverProcess } from '../../src/ports/remoteBox.ts'

export async function firstLine(prover: ProverProcess): Promise<string> {
  let text = ''
  for await (const chunk of prover.output) {
    text += Buffer.from(chunk).toString('utf8')
    if (text.includes('\n')) break
  }
  return text.slice(0, text.indexOf('\n'))
}

export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    // A zombie nobody has waited for is dead enough.
    return !/^\d+ \(.*\) Z/.test(readFileSync(`/proc/${pid}/stat`, 'utf8'))
  } catch {
    return false
  }
}

/** Whether some process was started with this among its arguments. */
export const isInUse = (argument: string): boolean =>
  readdirSync('/proc').some((pid) => {
    try {
      return readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0').includes(argument)
    } catch {
      return false
    }
  })

export interface Ended {
  readonly code: number | null
  readonly out: string
  readonly err: string
}

type WhileRunning = (err: () => string, kill: (signal: NodeJS.Signals) => void) => Promise<void>

/** A program of Node to its end, with what it said. */
export const runNode = (args: readonly string[], env: NodeJS.ProcessEnv, whileRunning?: WhileRunning): Promise<Ended> =>
  runProgram([process.execPath, ...args], env, whileRunning)

/** The same of any program. */
export function runProgram(
  [program = '', ...args]: readonly string[],
  env: NodeJS.ProcessEnv,
  whileRunning?: WhileRunning,
): Promise<Ended> {
  const child = spawn(program, args, { env, stdio: ['ignore', 'pipe', 'pipe'] })
  let [out, err] = ['', '']
  child.stdout.on('data', (chunk: Buffer) => {
    out += chunk.toString()
  })
  child.stderr.on('data', (chunk: Buffer) => {
    err += chunk.toString()
  })
  void whileRunning?.(
    () => err,
    (signal) => child.kill(signal),
  )
  return new Promise((resolve) => child.once('close', (code) => resolve({ code, out, err })))
}
