import { parentPort, workerData } from 'node:worker_threads'
import { rightEnvelopes } from '../../core/chain/envelopes.ts'
import { openVrf } from './openVrf.ts'

const { checkSignature } = await openVrf()

parentPort!.on('message', (row: readonly Uint8Array[]) => {
  parentPort!.postMessage(rightEnvelopes(row, workerData as Uint8Array, checkSignature))
})
