import type { MessagePort } from 'node:worker_threads'
import type { Card } from './card.ts'
import { type CardAnswer, type CardJob, type CardStart, toWireFault } from './cardMessages.ts'
import { Stop } from './stop.ts'

/** The thread of one card: carries out one job after the other, blocking, so that all cards of a box run at once. */
export async function serveCard(port: MessagePort, start: CardStart, open: () => Promise<Card>): Promise<void> {
  const stop = new Stop(start.stop)
  const answer = (message: CardAnswer): void => port.postMessage(message)
  const onRoots = (roots: Uint8Array) => answer({ type: 'roots', roots })
  try {
    const card = await open()
    port.on('message', (job: CardJob) => {
      try {
        answer({ type: 'done', result: carryOut(card, job, onRoots, stop) })
      } catch (error) {
        answer({ type: 'fault', fault: toWireFault(error) })
      }
      if (job.do === 'close') port.close()
    })
    answer({ type: 'opened', facts: card.facts })
  } catch (error) {
    answer({ type: 'fault', fault: toWireFault(error) })
    port.close()
  }
}

type Result = Extract<CardAnswer, { type: 'done' }>['result']

function carryOut(card: Card, job: CardJob, onRoots: (roots: Uint8Array) => void, stop: Stop): Result {
  switch (job.do) {
    case 'prepare':
      card.prepare(job.shapes)
      return null
    case 'runSeries':
      card.runSeries(job.task, onRoots, stop)
      return null
    case 'openSeries':
      return card.openSeries(job.asked)
    case 'fill':
      return card.fill(job.task, onRoots, stop)
    case 'runPasses':
      card.runPasses({ passes: job.passes, start: job.start, ...(job.peer ? { peer: job.peer } : {}) }, onRoots, stop)
      return null
    case 'openPasses':
      return card.openPasses(job.asked)
    case 'runBare':
      return card.runBare(job.task)
    case 'release':
      card.release()
      return null
    case 'close':
      card.close()
      return null
  }
}
