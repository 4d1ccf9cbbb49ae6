/** The thread of one card: carries out one job after the other, blocking, so that all cards of a box run at once. */
import { readFileSync } from 'node:fs'
import { parentPort, workerData } from 'node:worker_threads'
import { createEngine } from '../../../core/engine/createEngine.ts'
import { kernelPath } from '../../system/kernelFiles.ts'
import { Card } from './card.ts'
import { type CardAnswer, type CardJob, type CardStart, toWireFault } from './cardMessages.ts'
import { openCublasLt } from './cublasLt.ts'
import { loadLibcuda } from './libcuda.ts'
import { Stop } from './stop.ts'

const start = workerData as CardStart
const stop = new Stop(start.stop)
const port = parentPort!
const answer = (message: CardAnswer): void => port.postMessage(message)

async function open(): Promise<Card> {
  const files = start.kernelFolder === null ? {} : { folder: start.kernelFolder }
  const engine = await createEngine(new Uint8Array(readFileSync(kernelPath('engine.wasm', files))))
  const { ordinal, context } = start
  return new Card({ api: loadLibcuda(), openLibrary: openCublasLt, engine }, { ordinal, context, files })
}

function carryOut(card: Card, job: CardJob): Extract<CardAnswer, { type: 'done' }>['result'] {
  const onRoots = (roots: Uint8Array) => answer({ type: 'roots', roots })
  switch (job.do) {
    case 'prepare':
      card.prepare(job.shapes)
      return null
    case 'runChain':
      card.runChain(job.task, onRoots, stop)
      return null
    case 'openChain':
      return card.openChain(job.asked)
    case 'fill':
      card.fill(job.task, onRoots, stop)
      return null
    case 'fillPlace':
      return card.fillPlace()
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

try {
  const card = await open()
  port.on('message', (job: CardJob) => {
    try {
      answer({ type: 'done', result: carryOut(card, job) })
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
