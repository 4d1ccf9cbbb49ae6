import { GATE_MS } from '../../apps/node/checkSizes.ts'
import { type Slice, slicesOf } from '../../apps/work/drillChunks.ts'
import { AskedThread } from '../../drivers/system/askedThread.ts'
import { scriptUrl } from '../../drivers/system/scriptUrl.ts'

/** The device of this machine, on a thread of its own. It starts with the first task, and anew after a fault. */
export class DrillThread {
  private thread: AskedThread<Slice, Uint8Array[]> | null = null
  /** Products of checks that are under way or have just been made: tasks stand back for them, since only checks are timed. */
  private urgent = 0
  private waiting: (() => void)[] = []

  /** Opens the device before somebody waits for it. */
  async warmUp(): Promise<void> {
    await this.ask({ seed: new Uint8Array(32), k: 32, first: 0, count: 1 })
  }

  /** All chunks of a task. */
  async drill(seed: Uint8Array, k: number, depth: number): Promise<Uint8Array[]> {
    const chunks: Uint8Array[][] = []
    for (const slice of slicesOf(seed, k, depth)) {
      while (this.urgent > 0) await new Promise<void>((resolve) => this.waiting.push(resolve))
      chunks.push(await this.ask(slice))
    }
    return chunks.flat()
  }

  /** The same at once, for a validator that waits. */
  async show(seed: Uint8Array, k: number, depth: number): Promise<Uint8Array[]> {
    this.urgent++
    try {
      const chunks: Uint8Array[][] = []
      for (const slice of slicesOf(seed, k, depth)) chunks.push(await this.ask(slice))
      return chunks.flat()
    } finally {
      // The next round is asked for soon, at the latest when the window begins; a slice of a task would be in its way.
      setTimeout(() => this.goOn(), GATE_MS).unref()
    }
  }

  private goOn(): void {
    this.urgent--
    for (const go of this.waiting.splice(0)) go()
  }

  async close(): Promise<void> {
    await this.thread?.close()
  }

  private ask(slice: Slice): Promise<Uint8Array[]> {
    if (this.thread === null || this.thread.hasEnded)
      this.thread = new AskedThread(scriptUrl('./drillWorker.ts', import.meta.url))
    return this.thread.ask(slice)
  }
}
