import { parentPort, workerData } from 'node:worker_threads'
import { createEngine } from '../../core/engine/createEngine.ts'
import { type Run, verifyOpenings } from '../../core/proof/verifyPart.ts'
import type { FromWorker, ToWorker } from './workerProtocol.ts'

const engine = await createEngine(workerData.wasm as Uint8Array)
const runs = new Map<number, Run>()

parentPort!.on('message', (message: ToWorker) => {
  if (message.type === 'run') runs.set(message.id, message.run)
  else if (message.type === 'forget') runs.delete(message.id)
  else {
    const run = runs.get(message.id)
    const reason = run ? verifyOpenings(run, message.range, engine) : null
    parentPort!.postMessage({ ticket: message.ticket, reason } satisfies FromWorker)
  }
})
