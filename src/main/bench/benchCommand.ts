import type { Command } from 'commander'
import { PRECISION_NAMES } from '../../core/params/precision.ts'
import {
  DEVICES_HELP,
  readDevices,
  readNumber,
  readOneOf,
  readPrecisions,
  readWhole,
  refuseUnused,
} from '../parseOptions.ts'
import type { CommandContext } from '../run.ts'
import { type BenchFlags, bench } from './bench.ts'
import type { WorkBenchFlags, WorkModel } from './benchWork.ts'

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
    .option('--tolerance <percent>', 'how much slower is still alike', readNumber(0, 90), 15)
    .option('--html <file>', 'write it as one page with a picture too')
    .option('--work <kind>', 'do exact work instead: train', readOneOf({ train: 'train' }, 'Use train.'))
    .option('--model <name>', 'work: tiny, small, medium or large', MODELS)
    .option('--steps <count>', 'work: steps', readWhole(2, 1_000_000), 10)
    .option('--json', 'print the report as JSON (docs/spec/bench.schema.json)')
    .addHelpText('after', AFTER_HELP)
    .action((flags: BenchFlags | WorkBenchFlags, command: Command) => {
      if ('work' in flags) refuseUnused(command, PLAIN_OPTIONS, 'with --work')
      else refuseUnused(command, ['model', 'steps'], 'without --work')
      if (!('against' in flags)) refuseUnused(command, ['tolerance'], 'without --against: the last run fails nothing')
      return context.run(async (signal) => {
        if (!('work' in flags)) return await bench(flags, context, signal)
        // Works and their native parts are loaded only when asked for.
        const { benchWork } = await import('./benchWork.ts')
        return await benchWork(flags, context, signal)
      })
    })
}

const PLAIN_OPTIONS = ['precisions', 'seconds', 'size', 'claim', 'against', 'tolerance', 'html']

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
  touchstone bench --against monday.json
  touchstone bench --work train --model small`

const MODELS = readOneOf(
  { tiny: 'tiny', small: 'small', medium: 'medium', large: 'large' } satisfies { [Name in WorkModel]: Name },
  'Use tiny, small, medium, large.',
)
