import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'

export interface FleetProcess {
  /** Resolves when the line is printed; rejects when the process ends first. */
  said(text: string): Promise<void>
  hasSaid(text: string): boolean
  kill(signal: 'SIGKILL' | 'SIGTERM'): Promise<void>
  readonly ended: Promise<number | null>
}

/** A whole validator process from dist/, with boxes that sleep and pass. */
export function startFleetProcess(
  store: string,
  owner: string,
  runMs: number,
  concurrency: number,
  boxes: number,
): FleetProcess {
  const script = fileURLToPath(new URL('./fleetChild.mjs', import.meta.url))
  const child: ChildProcess = spawn(
    process.execPath,
    [script, store, owner, ...[runMs, concurrency, boxes].map(String)],
    {
      stdio: ['ignore', 'pipe', 'inherit'],
    },
  )
  let output = ''
  let wake = () => {}
  child.stdout!.on('data', (chunk: Buffer) => {
    output += chunk.toString('utf8')
    wake()
  })
  const ended = once(child, 'exit').then(([code]) => code as number | null)
  return {
    ended,
    said: async (text) => {
      const over = ended.then(() => 'over' as const)
      while (!output.includes(`${text}\n`)) {
        const more = new Promise<'more'>((resolve) => {
          wake = () => resolve('more')
        })
        if ((await Promise.race([more, over])) === 'over' && !output.includes(`${text}\n`))
          throw new Error(`the process ended without saying "${text}": ${output}`)
      }
    },
    hasSaid: (text) => output.includes(`${text}\n`),
    kill: async (signal) => {
      child.kill(signal)
      await ended
    },
  }
}
