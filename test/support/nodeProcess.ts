import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'

/** A line that a node printed. */
interface Told {
  readonly event: string
  readonly height: number
  readonly id: string
  readonly slot: number
  readonly isPrimary: boolean
  readonly addresses: readonly string[]
  readonly api: string
  readonly message: string
  readonly error: { readonly code: string }
}

/** A whole node in a process of its own, from dist/. */
export class NodeProcess {
  readonly told: Told[] = []
  readonly ended: Promise<number | null>
  /** Final blocks by their height, as the node told them. */
  readonly finals = new Map<number, string>()
  readonly child: ChildProcess
  private wake: () => void = () => {}
  private isOver = false

  constructor(args: readonly string[], hasApi = false) {
    const program = fileURLToPath(new URL('../../dist/main/touchstone.js', import.meta.url))
    const all = [
      program,
      'node',
      '--host',
      '127.0.0.1',
      '--no-discovery',
      '--json',
      ...(hasApi ? ['--api', '127.0.0.1:0'] : ['--no-api']),
      ...args,
    ]
    this.child = spawn(process.execPath, all, { stdio: ['ignore', 'pipe', 'inherit'] })
    createInterface({ input: this.child.stdout! }).on('line', (line) => {
      const told = JSON.parse(line) as Told
      this.told.push(told)
      if (told.event === 'final') this.finals.set(told.height, told.id)
      this.wake()
    })
    this.ended = once(this.child, 'exit').then(([code]) => {
      this.isOver = true
      this.wake()
      return code as number | null
    })
  }

  /** Where others reach it. */
  async address(): Promise<string> {
    await this.until(() => this.told.some(({ event }) => event === 'started'))
    return this.told.find(({ event }) => event === 'started')!.addresses[0]!
  }

  get final(): number {
    return Math.max(0, ...this.finals.keys())
  }

  get head(): number {
    return this.told.filter(({ event }) => event === 'head').at(-1)?.height ?? 0
  }

  /** Resolves when it is so; rejects when the process ends first. */
  async until(isSo: () => boolean): Promise<void> {
    while (!isSo()) {
      if (this.isOver) throw new Error(`the node ended: ${JSON.stringify(this.told.at(-1))}`)
      await new Promise<void>((resolve) => {
        this.wake = resolve
      })
    }
  }

  untilFinal(height: number): Promise<void> {
    return this.until(() => this.final >= height)
  }

  async kill(signal: 'SIGKILL' | 'SIGTERM' = 'SIGKILL'): Promise<number | null> {
    this.child.kill(signal)
    return await this.ended
  }
}
