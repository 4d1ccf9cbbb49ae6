/**
 * A card lost in mid-run, for real: one card opened twice in contexts of its own, of which the second reads where nothing
 * is. `node bench/gpu/pack.mjs OUT bench/gpu/lostCard.ts bench/gpu/lostCardWorker.ts && node OUT/lostCard.js CATALOGUE`.
 * Prints what the verdict would say, and ends with 0 if the other device was judged and nothing stayed on the card.
 */
import { execFileSync } from 'node:child_process'
import { setEnvironmentData } from 'node:worker_threads'
import { openCudaDevices } from '../../src/drivers/gpu/cuda/openCudaDevices.ts'
import { loadCatalogue } from '../../src/drivers/system/loadCatalogue.ts'
import { systemClock } from '../../src/drivers/system/systemClock.ts'
import { exitOfReport } from '../../src/main/exitCodes.ts'
import { honestProgram } from '../../test/support/inProcessBox.ts'
import { verifyInProcess } from '../../test/support/verifyInProcess.ts'
import { openCard } from './openCard.ts'

if (process.argv[2] === 'free') {
  const { card } = await openCard()
  console.log(card.facts.freeBytes)
  card.close()
  process.exit(0)
}
const catalogue = await loadCatalogue(process.argv[2] ?? 'catalogue/gpus.yaml')
/** In a process of its own: after such a fault the driver refuses every context of that card in this one. */
const freeBytes = () => Number(execFileSync(process.execPath, [process.argv[1]!, 'free'], { encoding: 'utf8' }))

const freeBefore = freeBytes()
setEnvironmentData('opened', new SharedArrayBuffer(4) as never)
const workerScript = new URL('./lostCardWorker.js', import.meta.url)
const devices = await openCudaDevices({ ordinals: [0, 0], context: 'own', workerScript })
const options = { precisions: ['int8', 'bf16', 'fp16'] as const, memory: true, bind: true }
const program = honestProgram({ devices })
const report = await verifyInProcess({ program, catalogue, clock: systemClock, options })
const telemetry = await Promise.all(devices.map((device) => device.telemetry!()))
await Promise.all(devices.map((device) => device.close()))
const freeAfter = freeBytes()

const { judgement, faults } = report
const { outcome, reason } = judgement
const exit = exitOfReport(report, faults.length)
const held = freeBefore - freeAfter
console.log(
  JSON.stringify({ outcome, reason, judged: judgement.devices.length, faults, exit, held, telemetry }, null, 1),
)
const asPromised =
  outcome === 'accepted' && faults[0]?.code === 'GPU_LOST' && judgement.devices.length === 1 && exit === 3
process.exitCode = asPromised && held < 64 * 2 ** 20 ? 0 : 1
