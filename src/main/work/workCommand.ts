import type { Command } from 'commander'
import { addSshOptions } from '../boxes/openSshBox.ts'
import { addText, readNumber, readOneOf, readWhole } from '../parseOptions.ts'
import type { CommandContext } from '../run.ts'
import { type InferenceFlags, runInference } from './runInference.ts'
import { type RunFlags, runMatmul, runTraining } from './runWork.ts'

/** What every kind takes. */
const addRunOptions = (command: Command): Command =>
  addSshOptions(command)
    .option('--on <box>', 'root@host, ssh://…, lease://… or an alias of ~/.ssh/config; may be repeated', addText)
    .option('--replicas <count>', 'do it so many times over; all must come to the same', readWhole(1, 16), 1)
    .option('--segment-limit <seconds>', 'the longest that one segment may take', readNumber(1, 86_400), 600)
    .option('--receipt <file>', 'where the receipt goes', 'touchstone-receipt.json')
    .option('--inputs <folder>', 'write the inputs there, for "touchstone check --replay"')
    .option('--json', 'print the outcome as JSON')

export function addWorkCommand(program: Command, context: CommandContext): void {
  const run = program
    .command('work')
    .description('do a job whose every step anyone can recompute, with a receipt for it')
    .command('run')
    .description('do one job on this machine or on a box; this machine watches, draws and signs')
    .addHelpText('after', AFTER_HELP)
  addRunOptions(run.command('matmul'))
    .description('the product of two matrices of int8, exact')
    .argument('<a>', 'A as an .npy file')
    .argument('<b>', 'B as an .npy file')
    .option('--out <file>', 'where C goes, as int32', 'product.npy')
    .option(
      '--method <name>',
      'openings (anyone checks) or sumcheck (every entry; who has A, B, C)',
      readMethod,
      'openings',
    )
    .action((a: string, b: string, flags: RunFlags) =>
      context.run((signal) => runMatmul([a, b], flags, context, signal)),
    )
  addRunOptions(run.command('train'))
    .description('train a language model on the bytes of a file')
    .argument('<text>', 'any file')
    .option('--family <name>', 'gpt or llama', readOneOf({ gpt: 'gpt', llama: 'llama' }, 'Use gpt or llama.'), 'gpt')
    .option('--layers <count>', 'layers', readWhole(1, 256), 4)
    .option('--width <count>', 'width of a layer', readWhole(2, 65_536), 128)
    .option('--heads <count>', 'heads of attention', readWhole(1, 1024), 4)
    .option('--tokens <count>', 'bytes in a sequence', readWhole(1, 131_072), 128)
    .option('--sequences <count>', 'sequences in a step', readWhole(1, 65_536), 8)
    .option('--steps <count>', 'steps', readWhole(1, 1_000_000), 50)
    .option('--rate <number>', 'the highest learning rate', readNumber(1e-8, 1), 0.003)
    .option('--out <file>', 'where the weights go', 'model.safetensors')
    .action((text: string, flags: RunFlags & Parameters<typeof runTraining>[1]) =>
      context.run((signal) => runTraining(text, flags, context, signal)),
    )
  addRunOptions(run.command('infer'))
    .description('a language model goes on from prompts; its text is shown as it comes')
    .requiredOption(
      '--model <folder>',
      'config.json, tokenizer.json and model.safetensors or shards: gpt2, llama, qwen2',
    )
    .option('--prompt <text>', 'a text to go on from; may be repeated', addText)
    .option('--prompts <file>', 'a text on each line')
    .option('--tokens <count>', 'tokens after each prompt', readWhole(1, 131_071), 64)
    .option('--temperature <number>', '0 takes the likeliest token, more leaves it to chance', readNumber(0, 100), 0)
    .option(
      '--seed <number>',
      'of that chance; without it, the seed of the work',
      readWhole(0, Number.MAX_SAFE_INTEGER),
    )
    .option('--out <file>', 'where texts and tokens go, as JSON', 'completions.json')
    .action((flags: InferenceFlags) => context.run((signal) => runInference(flags, context, signal)))
}

const readMethod = readOneOf({ openings: 'openings', sumcheck: 'sumcheck' }, 'Use openings or sumcheck.')

const AFTER_HELP = `
The receipt is checked on any machine, in seconds, without doing the work again:
  touchstone check touchstone-receipt.json

Whoever works learns what is looked at when everything is committed to. What
does not hold, or comes too late, is rejected: nothing is written then (1).

Examples:
  touchstone work run matmul a.npy b.npy
  touchstone work run matmul a.npy b.npy --method sumcheck
  touchstone work run train book.txt --steps 100 --on root@host
  touchstone work run infer --model ./gpt2 --prompt "Once upon a time"`
