import { parentPort } from 'node:worker_threads'
import { openDrill, type Slice } from '../../apps/work/drillChunks.ts'
import { hasherOn } from '../../core/work/workEngine.ts'
import { openExactEngine } from '../../drivers/gpu/cpu/work/openCpuWork.ts'
import { openWorkDevices } from '../../drivers/gpu/openDevices.ts'

const [device, ...others] = await openWorkDevices('auto')
for (const other of others) await other.close()
const drill = openDrill(device!, hasherOn(await openExactEngine()))

/** One after the other, in the order in which they came: a device does one thing at a time. */
let last: Promise<void> = Promise.resolve()
parentPort!.on('message', (slice: Slice) => {
  last = last.then(async () => parentPort!.postMessage(await drill(slice)))
})
