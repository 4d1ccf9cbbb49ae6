import { fork } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll } from 'vitest'

export interface CommandEnd {
  readonly status: number
  readonly stdout: string
  readonly stderr: string
}

export interface CommandLine {
  /** `touchstone` with these words, and this in its environment. */
  run(args: readonly string[], env?: Readonly<Record<string, string>>): Promise<CommandEnd>
  close(): Promise<void>
}

/**
 * The program of dist/ in a process that runs one command after another. Most of what a command takes is its start, and
 * what it says and ends with can be tried without. That a process ends by itself needs one of its own (`runNode`).
 */
export function openCommandLine(env: NodeJS.ProcessEnv): CommandLine {
  const child = fork(fileURLToPath(new URL('./commandChild.mjs', import.meta.url)), {
    env,
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  })
  const ended = new Promise<never>((_, reject) =>
    child.once('exit', (code, signal) => reject(new Error(`the command ended its process, with ${code ?? signal}`))),
  )
  ended.catch(() => {})
  let last: Promise<unknown> = Promise.resolve()
  return {
    run: (args, more = {}) => {
      const answered = last.then(() => {
        const answer = new Promise<CommandEnd>((resolve) => child.once('message', (end) => resolve(end as CommandEnd)))
        child.send({ args, env: more })
        return Promise.race([answer, ended])
      })
      last = answered.catch(() => {})
      return answered
    },
    close: async () => {
      child.kill('SIGKILL')
      await ended.catch(() => {})
    },
  }
}

/** The same with a home of its own, in a folder for the files of a suite; all of it is gone after its tests. */
export function openHome(env: Readonly<Record<string, string>> = {}) {
  const folder = mkdtempSync(join(tmpdir(), 'touchstone-home-'))
  const inFolder = (name: string) => join(folder, name)
  const commands = openCommandLine({ ...process.env, TOUCHSTONE_HOME: inFolder('home'), NO_COLOR: '1', ...env })
  afterAll(async () => {
    await commands.close()
    rmSync(folder, { recursive: true, force: true })
  })
  return { folder, inFolder, commands, touchstone: (...args: string[]) => commands.run(args) }
}
