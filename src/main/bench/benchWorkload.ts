import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { writeFreshCheckpoint } from '../../apps/workload/checkpoint.ts'
import { runWorkload, type WorkloadOptions, type WorkloadReport } from '../../apps/workload/runWorkload.ts'
import { formatOps, withPrefix } from '../../core/units/format.ts'
import { MODEL_SHAPES, type ModelName } from '../../core/workload/modelShape.ts'
import { openTensors } from '../../drivers/gpu/openDevices.ts'
import { createWritable, openReadable } from '../../drivers/system/fileAccess.ts'
import { systemClock } from '../../drivers/system/systemClock.ts'
import type { TensorDevice } from '../../ports/tensorDevice.ts'
import { EXIT } from '../exitCodes.ts'
import { openTerminal, type Terminal } from '../render/terminal.ts'
import type { CommandContext } from '../run.ts'

export interface WorkloadFlags {
  /** `true` lets the device choose. */
  readonly workload: ModelName | true
  readonly devices: string
  readonly text?: string
  readonly checkpoint?: string
  readonly save?: string
  readonly steps: number
  readonly epochs: number
  readonly json?: boolean
}

/** A text that is always there to learn from. */
const OWN_TEXT = fileURLToPath(new URL('../../../docs/spec/proof-of-gpu.md', import.meta.url))

/** A model trained and run on this machine. Shown as what it is: measured, not proven. */
export async function benchWorkload(
  flags: WorkloadFlags,
  { env }: CommandContext,
  signal: AbortSignal,
): Promise<number> {
  const devices = await openTensors(flags.devices)
  const folder = mkdtempSync(join(tmpdir(), 'touchstone-workload-'))
  try {
    const cards = devices[0]!.operands === 'bf16'
    const model = flags.workload === true ? (cards ? 'medium' : 'tiny') : flags.workload
    const report = await measure(
      devices,
      folder,
      { ...flags, workload: model },
      openTerminal(process.stderr, env),
      signal,
    )
    if (flags.json) process.stdout.write(`${JSON.stringify({ model, ...report })}\n`)
    else showReport(model, report, openTerminal(process.stdout, env))
    return EXIT.genuine
  } finally {
    for (const device of devices) await device.close()
    rmSync(folder, { recursive: true, force: true })
  }
}

async function measure(
  devices: readonly TensorDevice[],
  folder: string,
  flags: WorkloadFlags & { readonly workload: ModelName },
  progress: Terminal,
  signal: AbortSignal,
): Promise<WorkloadReport> {
  const opened: { close(): Promise<void> }[] = []
  const open = async <File extends { close(): Promise<void> }>(opening: Promise<File>): Promise<File> => {
    const file = await opening
    opened.push(file)
    return file
  }
  try {
    const text = await open(openReadable(flags.text ?? OWN_TEXT))
    const start = flags.checkpoint ?? (await freshCheckpoint(flags.workload, folder))
    const checkpoint = await open(openReadable(start))
    const tuned = flags.save === undefined ? {} : { tuned: await open(createWritable(flags.save)) }
    const onProgress = ({ step, epoch, loss }: { step: number; epoch: number; loss: number }) =>
      progress.live(`  training: epoch ${epoch + 1}, step ${step}, loss ${loss.toFixed(3)}`)
    const deps = { devices, clock: systemClock, text, checkpoint, ...tuned, onProgress }
    return await runWorkload(optionsFor(flags.workload, devices[0]!.operands === 'bf16', flags), deps, signal)
  } finally {
    progress.live('')
    for (const file of opened) await file.close()
  }
}

async function freshCheckpoint(model: ModelName, folder: string): Promise<string> {
  const path = join(folder, 'fresh.safetensors')
  const file = await createWritable(path)
  try {
    await writeFreshCheckpoint(MODEL_SHAPES[model], 1, file)
  } finally {
    await file.close()
  }
  return path
}

function optionsFor(model: ModelName, cards: boolean, { steps, epochs }: WorkloadFlags): WorkloadOptions {
  const shape = MODEL_SHAPES[model]
  const half = shape.context / 2
  return {
    shape,
    sequences: cards ? 8 : 4,
    tokens: shape.context,
    epochs,
    maxSteps: steps,
    rate: model === 'tiny' ? 3e-3 : 3e-4,
    seed: 1,
    inference: { sequences: cards ? 16 : 2, promptTokens: half, newTokens: Math.min(half, 128) },
    // Large enough that the library shows what it has; small where plain loops do the work.
    bareSize: cards ? 8192 : 128,
    bareSeconds: cards ? 1 : 0.2,
  }
}

function showReport(model: ModelName, report: WorkloadReport, { line, colours }: Terminal): void {
  const { training, inference, utilisation, bareOpsPerSec } = report
  const share = (part: number) => `${(100 * part).toFixed(1)} % of the bare product`
  const perSec = (tokens: number) => `${withPrefix(tokens)}tokens/s`.padEnd(16)
  line(`  ${colours.bold('measured, not proven')}: ${model}, ${withPrefix(report.parameters)}parameters`)
  line(`  on             ${report.devices.join(', ')} (products of ${report.operands})`)
  line(`  bare product   ${formatOps(bareOpsPerSec)}`)
  line(`  training       ${perSec(training.tokensPerSec)} ${share(utilisation.training)}`)
  line(`  prefill        ${perSec(inference.prefillTokensPerSec)} ${share(utilisation.prefill)}`)
  line(`  decode         ${perSec(inference.decodeTokensPerSec)} ${share(utilisation.decode)}`)
  const losses = training.epochLosses.map((loss) => loss.toFixed(3)).join(', ')
  line(`  loss           ${losses} nats per byte, by epoch; ${training.steps} steps`)
}
