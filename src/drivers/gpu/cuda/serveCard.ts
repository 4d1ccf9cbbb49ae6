import type { MessagePort } from 'node:worker_threads'
import type { Card } from './card.ts'
import { type CardAnswer, type CardJob, type CardStart, toWireFault } from './cardMessages.ts'
import type { OnRoots } from './replay.ts'
import { Stop } from './stop.ts'

/** The thread of one card: carries out one job after the other, blocking, so that all cards of a box run at once. */
export async function serveCard(port: MessagePort, start: CardStart, open: () => Promise<Card>): Promise<void> {
  const stop = new Stop(start.stop)
  const answer = (message: CardAnswer): void => port.postMessage(message)
  const onRoots: OnRoots = (roots) => answer({ type: 'roots', roots })
  try {
    const card = await open()
    port.on('message', ({ call, task }: CardJob) => {
      try {
        // Our own main thread asks, and `CardThread.run` has typed the task.
        const carryOut = card[call] as (task: unknown, onRoots: OnRoots, stop: Stop) => unknown
        answer({ type: 'done', result: carryOut.call(card, task, onRoots, stop) })
      } catch (error) {
        answer({ type: 'fault', fault: toWireFault(error) })
      }
      if (call === 'close') port.close()
    })
    answer({ type: 'done', result: card.facts })
  } catch (error) {
    answer({ type: 'fault', fault: toWireFault(error) })
    port.close()
  }
}
