import { parentPort, workerData } from 'node:worker_threads'
import { checkRow, type RowToCheck } from '../../core/chain/envelopes.ts'
import { openVrf } from './openVrf.ts'

const { checkSignature, vrf } = await openVrf()
const checks = { genesisHash: workerData as Uint8Array, signature: checkSignature, vrf: vrf.verify }

parentPort!.on('message', (row: RowToCheck) => {
  parentPort!.postMessage(checkRow(row, checks))
})
