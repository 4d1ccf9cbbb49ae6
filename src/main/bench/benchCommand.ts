import type { Command } from 'commander'
import { compareProduct, type ProductRow } from '../../apps/bench/compareProduct.ts'
import { PRECISION_NAMES, type Precision } from '../../core/params/precision.ts'
import { formatOps } from '../../core/units/format.ts'
import type { ModelName } from '../../core/workload/modelShape.ts'
import { openDevices } from '../../drivers/gpu/openDevices.ts'
import type { Device } from '../../ports/device.ts'
import { EXIT } from '../exitCodes.ts'
import { DEVICES_HELP, readDevices, readNumber, readOneOf, readPrecisions, readWhole } from '../parseOptions.ts'
import { bar } from '../render/showSteps.ts'
import { openTerminal, type Terminal } from '../render/terminal.ts'
import { type CommandContext, tellFault } from '../run.ts'
import { system } from '../system.ts'
import type { WorkloadFlags } from './benchWorkload.ts'

interface BenchFlags {
  readonly precisions?: Precision[]
  readonly seconds: number
  readonly size?: number
  readonly devices: string
  readonly json?: boolean
}

export function addBenchCommand(program: Command, context: CommandContext): void {
  program
    .command('bench')
    .description('this machine: the proven product beside the bare one, in one run')
    .option('--precisions <list>', `some of ${PRECISION_NAMES.join(',')}`, readPrecisions)
    .option('--seconds <seconds>', 'time per precision and side', readNumber(0.1, 600), 1)
    .option('--size <m>', 'm = n to use', readWhole(64, 32768))
    .option('--devices <list>', DEVICES_HELP, readDevices, 'auto')
    .option('--workload [model]', 'train and run a language model instead: tiny, small, medium or large', MODELS)
    .option('--text <file>', 'workload: what it learns from')
    .option('--checkpoint <file>', 'workload: safetensors file to start from')
    .option('--save <file>', 'workload: where the tuned model goes')
    .option('--epochs <count>', 'workload: how often it reads the text', readWhole(1, 1000), 3)
    .option('--steps <count>', 'workload: training steps at most', readWhole(2, 1_000_000), 200)
    .option('--json', 'print the rows as JSON')
    .action((flags: BenchFlags | WorkloadFlags) =>
      context.run(async (signal) => {
        if (!('workload' in flags)) return await bench(flags, context, signal)
        // The workload and its native parts are loaded only when asked for.
        const { benchWorkload } = await import('./benchWorkload.ts')
        return await benchWorkload(flags, context, signal)
      }),
    )
}

const MODELS = readOneOf(
  { tiny: 'tiny', small: 'small', medium: 'medium', large: 'large' } satisfies { [Name in ModelName]: Name },
  'Use tiny, small, medium, large.',
)

async function bench(flags: BenchFlags, { env }: CommandContext, signal: AbortSignal): Promise<number> {
  const terminal = openTerminal(process.stdout, env)
  const faults: unknown[] = []
  const devices = await openDevices(flags.devices, (fault) => faults.push(fault))
  const rows: ProductRow[] = []
  try {
    for (const device of devices) {
      if (!flags.json) showHeading(device, terminal)
      for (const precision of flags.precisions ?? PRECISION_NAMES) {
        if (!device.facts.precisions.includes(precision)) continue
        const row = await compareProduct(device, precision, { ...flags, ...system }, signal)
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

function showHeading({ facts, runBare }: Device, { line, colours }: Terminal): void {
  line(`  ${colours.bold(facts.name)}`)
  if (!runBare) line(colours.dim('  no library multiplies on a CPU here, so there is nothing bare to compare with'))
  line(colours.dim(`  precision  m = n  k      proven       ${runBare ? 'bare         proven / bare' : ''}`.trimEnd()))
}

function showRow({ precision, size, k, bareOpsPerSec, provenOpsPerSec, ratio }: ProductRow, { line }: Terminal): void {
  const cells = [precision.padEnd(10), String(size).padEnd(6), String(k).padEnd(6), formatOps(provenOpsPerSec)]
  const compared =
    bareOpsPerSec === null || ratio === null
      ? ''
      : `${formatOps(bareOpsPerSec).padEnd(12)} ${bar(ratio, 20)} ${(100 * ratio).toFixed(1)} %`
  line(`  ${cells.join(' ').padEnd(37)} ${compared}`.trimEnd())
}
