import type { Command } from 'commander'
import { PRECISION_NAMES } from '../../core/params/precision.ts'
import type { ModelName } from '../../core/workload/modelShape.ts'
import { DEVICES_HELP, readDevices, readNumber, readOneOf, readPrecisions, readWhole } from '../parseOptions.ts'
import type { CommandContext } from '../run.ts'
import { type BenchFlags, bench } from './bench.ts'
import type { WorkloadFlags } from './benchWorkload.ts'

export function addBenchCommand(program: Command, context: CommandContext): void {
  program
    .command('bench')
    .description('this machine: speed, memory, transfers and health of its cards, with pass or fail')
    .option('--precisions <list>', `some of ${PRECISION_NAMES.join(',')}`, readPrecisions)
    .option('--seconds <seconds>', 'time per precision and side', readNumber(0.1, 600), 1)
    .option('--size <m>', 'm = n to use', readWhole(64, 32768))
    .option('--devices <list>', DEVICES_HELP, readDevices, 'auto')
    .option('--claim <text>', 'what it should be, for example "8x H100 SXM"; by the names of the driver otherwise')
    .option(
      '--against <file>',
      'compare with this run (of --json), and fail where it is slower; else with the last one',
    )
    .option('--tolerance <percent>', 'how much slower is still alike', readNumber(0, 90), 5)
    .option('--html <file>', 'write it as one page with a picture too')
    .option('--workload [model]', 'train and run a language model instead: tiny, small, medium or large', MODELS)
    .option('--text <file>', 'workload: what it learns from')
    .option('--checkpoint <file>', 'workload: safetensors file to start from')
    .option('--save <file>', 'workload: where the tuned model goes')
    .option('--epochs <count>', 'workload: how often it reads the text', readWhole(1, 1000), 3)
    .option('--steps <count>', 'workload: training steps at most', readWhole(2, 1_000_000), 200)
    .option('--json', 'print the report as JSON (docs/spec/bench.schema.json)')
    .addHelpText('after', AFTER_HELP)
    .action((flags: BenchFlags | WorkloadFlags) =>
      context.run(async (signal) => {
        if (!('workload' in flags)) return await bench(flags, context, signal)
        // The workload and its native parts are loaded only when asked for.
        const { benchWorkload } = await import('./benchWorkload.ts')
        return await benchWorkload(flags, context, signal)
      }),
    )
}

const AFTER_HELP = `
Everything is measured on a machine you trust; nothing of it is proven to anyone
else (that is "touchstone verify"). Ranges are those of the catalogue for the
card that the driver names.

Ends with 0 (pass), 1 (fail), 2 (usage), 3 (fault) or 4 (not judged: no card, or
one that is not in the catalogue); 130 after Ctrl-C.

Examples:
  touchstone bench
  touchstone bench --claim "8x H100 SXM" --html bench.html
  touchstone bench --json > monday.json
  touchstone bench --against monday.json`

const MODELS = readOneOf(
  { tiny: 'tiny', small: 'small', medium: 'medium', large: 'large' } satisfies { [Name in ModelName]: Name },
  'Use tiny, small, medium, large.',
)
