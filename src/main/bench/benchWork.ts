import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { formatOps, withPrefix } from '../../core/units/format.ts'
import { operationsOf } from '../../core/work/program.ts'
import { openWork, type Work } from '../../core/work/work.ts'
import { hasherOn } from '../../core/work/workEngine.ts'
import type { WorkKernels } from '../../core/work/workKernels.ts'
import { WORK_KINDS } from '../../core/work/workKinds.ts'
import { EXACT_OPS } from '../../core/work/workOps.ts'
import { openExactEngine } from '../../drivers/gpu/cpu/work/openCpuWork.ts'
import { openWorkDevices } from '../../drivers/gpu/openDevices.ts'
import type { WorkDevice } from '../../ports/workDevice.ts'
import { EXIT } from '../exitCodes.ts'
import { labelled } from '../render/labelled.ts'
import { openTerminal, type Terminal } from '../render/terminal.ts'
import type { CommandContext } from '../run.ts'
import { system } from '../system.ts'
import { type TrainFlags, trainWork } from '../work/trainWork.ts'
import { type PreparedWork, prepareWork } from '../work/workOrder.ts'

/** Decoders by size: layers, width, heads, sequences of a step. */
const MODELS = {
  tiny: [2, 64, 4, 4, 64],
  small: [12, 768, 12, 16, 1024],
  medium: [24, 1024, 16, 8, 1024],
  large: [24, 2048, 16, 8, 1024],
} as const

export type WorkModel = keyof typeof MODELS

export interface WorkBenchFlags {
  readonly work: 'train'
  readonly model?: WorkModel
  readonly devices: string
  readonly steps: number
  readonly json?: boolean
}

/** A text that is always there to learn from. */
const TEXT = fileURLToPath(new URL('../../../docs/spec/proof-of-gpu.md', import.meta.url))

/** Exact training on this machine: tokens a second, and what share of a product alone that is. */
export async function benchWork(flags: WorkBenchFlags, { env }: CommandContext, signal: AbortSignal): Promise<number> {
  const devices = await openWorkDevices(flags.devices)
  const device = devices[0]!
  try {
    const model = flags.model ?? (device.name.startsWith('CPU') ? 'tiny' : 'small')
    const [layers, width, heads, sequences, tokens] = MODELS[model]
    const shape: TrainFlags = { family: 'gpt', layers, width, heads, sequences, tokens, steps: flags.steps, rate: 3e-4 }
    const hasher = hasherOn(await openExactEngine())
    const text = repeated(readFileSync(TEXT), 2 * sequences * (tokens + 1))
    const progress = openTerminal(process.stderr, env)
    const training = await measure(device, trainWork(text, shape, hasher), progress, signal)
    const product = await measure(device, productOf(4 * width, hasher), progress, signal)
    const report = {
      ...{ work: 'train', model, device: device.name, steps: flags.steps, parameters: training.parameters },
      tokensPerSecond: (sequences * tokens * training.perSegment) / training.operations,
      operationsPerSecond: training.perSegment,
      productPerSecond: product.perSegment,
      share: training.perSegment / product.perSegment,
    }
    if (flags.json) process.stdout.write(`${JSON.stringify(report)}\n`)
    else openTerminal(process.stdout, env).lines(linesOf(report))
    return EXIT.genuine
  } finally {
    for (const one of devices) await one.close()
  }
}

interface Measured {
  /** Operations of one segment, and how many of them a second. */
  readonly operations: number
  readonly perSegment: number
  readonly parameters: number
}

/** Every segment with its commitment, but for the first: it makes memory and picks kernels. */
async function measure(
  device: WorkDevice,
  { text, given }: PreparedWork,
  progress: Terminal,
  signal: AbortSignal,
): Promise<Measured> {
  const { clock, randomness } = system
  const work: Work<WorkKernels> = openWork(WORK_KINDS, EXACT_OPS, {
    ...{ text, orderId: randomness.bytes(32), seed: randomness.bytes(32) },
  })
  const run = await device.start(work, given)
  if (!work.isIndependent) await run.advance(-1)
  let startedUs = 0
  for (let segment = 0; segment < work.ends.length; segment++) {
    signal.throwIfAborted()
    await run.advance(segment)
    if (segment === 0) startedUs = clock.monotonicUs()
    progress.live(`  ${work.spec.kind} ${segment + 1}/${work.ends.length}`)
  }
  progress.live('')
  const operations = operationsOf(EXACT_OPS, work.transition(1))
  const seconds = (clock.monotonicUs() - startedUs) / 1e6
  const weights = [...work.state].filter(([name]) => !name.includes('/'))
  return {
    operations,
    perSegment: (operations * (work.ends.length - 1)) / seconds,
    parameters: weights.reduce((sum, [, { rows, width }]) => sum + rows * width, 0),
  }
}

/** Five blocks of a square product, of numbers that follow from their places. */
function productOf(side: number, hasher: Parameters<typeof trainWork>[2]): PreparedWork {
  const rows = 5 * side
  const bytes = (count: number) => Uint8Array.from({ length: count }, (_, i) => (Math.imul(i, 0x9e3779b1) >>> 25) & 127)
  const given = new Map([
    ['a', bytes(rows * side)],
    ['b', bytes(side * side)],
  ])
  const parameters = { rows, columns: side, k: side, block: side }
  return prepareWork({ kind: 'matmul', parameters, transitions: 5, interval: 1 }, given, hasher)
}

function repeated(text: Uint8Array, least: number): Uint8Array {
  const out = new Uint8Array(Math.max(least, text.length))
  for (let at = 0; at < out.length; at += text.length) out.set(text.subarray(0, out.length - at), at)
  return out
}

const linesOf = (report: {
  readonly model: string
  readonly device: string
  readonly parameters: number
  readonly tokensPerSecond: number
  readonly operationsPerSecond: number
  readonly productPerSecond: number
  readonly share: number
}): string[] => [
  ...labelled('training', `${report.model}, ${withPrefix(report.parameters)}parameters, exact, every step committed`),
  ...labelled('device', report.device),
  ...labelled('speed', `${withPrefix(report.tokensPerSecond)}tokens/s, ${formatOps(report.operationsPerSecond)}`),
  ...labelled('product', `${formatOps(report.productPerSecond)} alone, committed too`),
  ...labelled('share', `${(100 * report.share).toFixed(1)} % of the product`),
]
