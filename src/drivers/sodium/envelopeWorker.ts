import { parentPort, workerData } from 'node:worker_threads'
import { checkRow } from '../../core/chain/envelopes.ts'
import type { PackedRow } from './openEnvelopeThread.ts'
import { openVrf } from './openVrf.ts'

const { checkSignature, vrf } = await openVrf()
const checks = { genesisHash: workerData as Uint8Array, signature: checkSignature, vrf: vrf.verify }

parentPort!.on('message', ({ bytes, ends, lots }: PackedRow) => {
  const blocks = ends.map((end, at) => bytes.subarray(ends[at - 1] ?? 0, end))
  parentPort!.postMessage(checkRow({ blocks, lots }, checks))
})
