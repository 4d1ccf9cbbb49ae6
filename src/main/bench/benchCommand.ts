import type { Command } from 'commander'
import { PRECISION_NAMES, type Precision } from '../../core/params/precision.ts'
import { PRESETS } from '../../core/params/presets.ts'
import { classK, largestSize } from '../../core/proof/sizeClass.ts'
import { formatOps } from '../../core/units/format.ts'
import { openDevices } from '../../drivers/gpu/openDevices.ts'
import { systemClock } from '../../drivers/system/systemClock.ts'
import { systemRandomness } from '../../drivers/system/systemRandomness.ts'
import type { ChainTask, Device } from '../../ports/device.ts'
import { EXIT } from '../exitCodes.ts'
import { DEVICES_HELP, readDevices, readModel, readNumber, readPrecisions, readWhole } from '../parseOptions.ts'
import { bar } from '../render/showSteps.ts'
import { openTerminal, type Terminal } from '../render/terminal.ts'
import { type CommandContext, tellFault } from '../run.ts'
import type { WorkloadFlags } from './benchWorkload.ts'

interface BenchFlags {
  readonly precisions?: Precision[]
  readonly seconds: number
  readonly size?: number
  readonly devices: string
  readonly json?: boolean
}

interface Row {
  readonly device: string
  readonly precision: Precision
  readonly size: number
  readonly k: number
  /** Null on a device that has no bare product: nothing outside the proof multiplies on a CPU here. */
  readonly bareOpsPerSec: number | null
  readonly provenOpsPerSec: number
  /** Proven over bare, both measured in this run, interleaved. */
  readonly ratio: number | null
}

export function addBenchCommand(program: Command, context: CommandContext): void {
  program
    .command('bench')
    .description('this machine: the proven product beside the bare one, in one run')
    .option('--precisions <list>', `some of ${PRECISION_NAMES.join(',')}`, readPrecisions)
    .option('--seconds <seconds>', 'time per precision and side', readNumber(0.1, 600), 1)
    .option('--size <m>', 'm = n to use', readWhole(64, 32768))
    .option('--devices <list>', DEVICES_HELP, readDevices, 'auto')
    .option('--workload [model]', 'train and run a language model instead: tiny, small, medium or large', readModel)
    .option('--text <file>', 'workload: what it learns from')
    .option('--checkpoint <file>', 'workload: safetensors file to start from')
    .option('--save <file>', 'workload: where the tuned model goes')
    .option('--epochs <count>', 'workload: how often it reads the text', readWhole(1, 1000), 3)
    .option('--steps <count>', 'workload: training steps at most', readWhole(2, 1_000_000), 200)
    .option('--json', 'print the rows as JSON')
    .action((flags: BenchFlags | WorkloadFlags) => context.run((signal) => benchEither(flags, context, signal)))
}

/** The workload and its native parts are loaded only when asked for. */
async function benchEither(
  flags: BenchFlags | WorkloadFlags,
  context: CommandContext,
  signal: AbortSignal,
): Promise<number> {
  if (!('workload' in flags)) return await bench(flags, context, signal)
  const { benchWorkload } = await import('./benchWorkload.ts')
  return await benchWorkload(flags, context, signal)
}

async function bench(flags: BenchFlags, { env }: CommandContext, signal: AbortSignal): Promise<number> {
  const terminal = openTerminal(process.stdout, env)
  const faults: unknown[] = []
  const devices = await openDevices(flags.devices, (fault) => faults.push(fault))
  const rows: Row[] = []
  try {
    for (const device of devices) {
      if (!flags.json) showHeading(device, terminal)
      for (const precision of flags.precisions ?? PRECISION_NAMES) {
        if (!device.facts.precisions.includes(precision)) continue
        const row = await measure(device, precision, flags, signal)
        rows.push(row)
        if (!flags.json) showRow(row, terminal)
      }
    }
    if (flags.json) process.stdout.write(`${JSON.stringify(rows)}\n`)
    for (const fault of faults) tellFault(fault, flags.json)
    return faults.length === 0 ? EXIT.genuine : EXIT.fault
  } finally {
    await Promise.all(devices.map((device) => device.close()))
  }
}

/** Bare and proven take turns on the same operands, so that both see the same clocks and neighbours. */
async function measure(device: Device, precision: Precision, flags: BenchFlags, signal: AbortSignal): Promise<Row> {
  const { class: deviceClass, freeBytes, name } = device.facts
  const k = classK(PRESETS.mainnet, deviceClass, precision)
  const slow = deviceClass === 'cpu' && precision === 'fp32' ? 256 : deviceClass === 'cpu' ? 1024 : 16384
  const size = flags.size ?? Math.min(slow, largestSize(PRESETS.mainnet, deviceClass, precision, k, 0.9 * freeBytes))
  const task = (rounds: number): ChainTask => ({
    kind: 'rounds',
    precision,
    m: size,
    n: size,
    k,
    rounds,
    seed: systemRandomness.bytes(32),
  })
  const warm = await timeChain(device, task(2), signal)
  const rounds = Math.max(2, Math.ceil((flags.seconds * 1e6) / TURNS / (warm / 2)))
  let bare = 0
  let proven = 0
  for (let turn = 0; turn < TURNS; turn++) {
    const next = task(rounds)
    bare += (await device.runBare?.(next, signal)) ?? 0
    proven += await timeChain(device, next, signal)
  }
  await device.release()
  const ops = TURNS * rounds * 2 * size * size * k
  return {
    device: name,
    precision,
    size,
    k,
    bareOpsPerSec: device.runBare ? (ops * 1e6) / bare : null,
    provenOpsPerSec: (ops * 1e6) / proven,
    ratio: device.runBare ? bare / proven : null,
  }
}

const TURNS = 4

async function timeChain(device: Device, task: ChainTask, signal: AbortSignal): Promise<number> {
  const began = systemClock.monotonicUs()
  await device.runChain(task, () => {}, signal)
  return systemClock.monotonicUs() - began
}

function showHeading({ facts, runBare }: Device, { line, colours }: Terminal): void {
  line(`  ${colours.bold(facts.name)}`)
  if (!runBare) line(colours.dim('  no library multiplies on a CPU here, so there is nothing bare to compare with'))
  line(colours.dim(`  precision  m = n  k      proven       ${runBare ? 'bare         proven / bare' : ''}`.trimEnd()))
}

function showRow({ precision, size, k, bareOpsPerSec, provenOpsPerSec, ratio }: Row, { line }: Terminal): void {
  const cells = [precision.padEnd(10), String(size).padEnd(6), String(k).padEnd(6), formatOps(provenOpsPerSec)]
  const compared =
    bareOpsPerSec === null || ratio === null
      ? ''
      : `${formatOps(bareOpsPerSec).padEnd(12)} ${bar(ratio, 20)} ${(100 * ratio).toFixed(1)} %`
  line(`  ${cells.join(' ').padEnd(37)} ${compared}`.trimEnd())
}
