import { openCudaDevices } from '../../src/drivers/gpu/cuda/openCudaDevices.ts'

/** From the start of the process to the first root of the largest int8 class, through the port. */
const marks: Record<string, number> = { processStart: 0 }
const mark = (name: string) => {
  marks[name] = Math.round(performance.now())
}
mark('scriptLoaded')
const [device] = await openCudaDevices({ ordinals: [0] })
mark('deviceOpen')
const size = Number(process.argv[2] ?? 16384)
const shape = { kind: 'rounds', precision: 'int8', m: size, n: size, k: 32768, rounds: 2 } as const
if (process.argv[3] === 'prepare') {
  await device!.prepare!([shape], new AbortController().signal)
  mark('prepared')
}
let first = true
await device!.runSeries(
  { ...shape, seed: new Uint8Array(32).fill(3) },
  () => {
    if (first) mark('firstRoot')
    first = false
  },
  new AbortController().signal,
)
mark('lastRoot')
console.log(JSON.stringify({ ...marks, telemetry: await device!.telemetry!() }))
await device!.close()
