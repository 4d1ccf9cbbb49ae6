import type { Command } from 'commander'
import { addVendorOptions, VENDOR_OPTIONS } from '../attestationRules.ts'
import { addSshOptions, OF_A_LEASE, SSH_OPTIONS } from '../boxes/sshFlags.ts'
import { addText, readList, readNumber, readOneOf, readWhole, refuseUnused } from '../parseOptions.ts'
import type { CommandContext } from '../run.ts'
import { readLight } from './renderWork.ts'
import { type ClassifyFlags, runClassify, runPrivateProduct } from './runClassify.ts'
import { type InferenceFlags, runInference } from './runInference.ts'
import { runRendering } from './runRendering.ts'
import { runTraining, type TrainingFlags } from './runTraining.ts'
import { type RunFlags, runMatmul } from './runWork.ts'
import { addObstacle, readSize, runSimulation } from './simulateWork.ts'

/** How a result is shown to be right (docs/methods.md). */
const SIMPLE_METHODS = {
  help: 'openings (anyone checks), or attest (those, and hardware that signs that it was there)',
  read: readOneOf(
    { openings: 'openings', attest: 'attest' },
    'Use openings or attest; a product has sumcheck and zk, a training sumcheck.',
  ),
}
const PRODUCT_METHODS = {
  help: 'openings (anyone checks), sumcheck (every entry; who has A, B, C), zk (A stays hidden; on this machine) or attest (openings, and hardware that signs that it was there)',
  read: readOneOf(
    { openings: 'openings', sumcheck: 'sumcheck', zk: 'zk', attest: 'attest' },
    'Use openings, sumcheck, zk or attest.',
  ),
}

const TRAINING_METHODS = {
  help: 'openings (anyone checks), sumcheck (those, and two steps proven by mathematics; on a processor) or attest (openings, and hardware that signs that it was there)',
  read: readOneOf(
    { openings: 'openings', sumcheck: 'sumcheck', attest: 'attest' },
    'Use openings, sumcheck or attest.',
  ),
}

/** What every kind takes. */
const addRunOptions = (command: Command, inputs?: string, methods = SIMPLE_METHODS): Command =>
  addVendorOptions(addSshOptions(command))
    .hook('preAction', () => {
      const on: readonly string[] | undefined = command.getOptionValue('on')
      const leases = on?.filter((address) => address.startsWith('lease:')) ?? []
      if (on === undefined) refuseUnused(command, SSH_OPTIONS, 'without --on')
      if (leases.length > 0) refuseUnused(command, leases.length === on?.length ? SSH_OPTIONS : ['hostKey'], OF_A_LEASE)
      if (command.getOptionValue('replicas') < (on?.length ?? 1))
        refuseUnused(command, ['replicas'], 'below the number of boxes')
      const unasked = command.getOptionValue('method') !== 'attest'
      if (unasked) refuseUnused(command, ['evidence', ...VENDOR_OPTIONS], 'without --method attest')
    })
    .option('--method <name>', methods.help, methods.read, 'openings')
    .option('--on <box>', 'root@host, ssh://…, lease://… or an alias of ~/.ssh/config; may be repeated', addText)
    .option(
      '--replicas <count>',
      'do it so many times over, at least once a box; where they differ, who is wrong is found out and does not count',
      readWhole(1, 16),
      1,
    )
    .option(
      '--segment-limit <seconds>',
      'the longest that one segment may take, and the least time for an answer about one',
      readNumber(1, 86_400),
      600,
    )
    .option('--receipt <file>', 'where the receipt goes', 'touchstone.receipt')
    .option('--evidence <file>', 'with attest: where goes what the hardware signed', 'touchstone-evidence.json')
    .option('--inputs <folder>', 'write the inputs there, for "touchstone check" with --inputs or --replay', inputs)
    .option('--json', 'print the outcome as JSON')

/** Whoever has A proves it: nobody else may see it. */
const OF_ZK = 'with --method zk, which works on this machine alone'

/** A product has one method more than other kinds. */
type ProductFlags = RunFlags | (Omit<RunFlags, 'method'> & { readonly method: 'zk' })

/** A language model that goes on from prompts. */
function addInference(command: Command, context: CommandContext): void {
  command
    .description('a language model continues prompts; its text is shown as it comes')
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
    .action((flags: InferenceFlags) => {
      if (flags.temperature === 0)
        refuseUnused(command, ['seed'], 'at a temperature of 0, which leaves nothing to chance')
      return context.run((signal) => runInference(flags, context, signal))
    })
}

export function addWorkCommand(program: Command, context: CommandContext): void {
  const run = program
    .command('work')
    .description('do a job whose every step anyone can recompute, with a receipt for it')
    .command('run')
    .description('do one job on this machine or on a box; this machine watches, draws and signs')
    .addHelpText('after', AFTER_HELP)
  addRunOptions(run.command('matmul'), undefined, PRODUCT_METHODS)
    .description('the product of two matrices of int8, exact')
    .argument('<a>', 'A as an .npy file')
    .argument('<b>', 'B as an .npy file')
    .option('--out <file>', 'where C goes, as int32', 'product.npy')
    .option(
      '--code',
      'with sumcheck: A and B under a code, so that who has C alone can check; some 64 times their memory',
    )
    .action((a: string, b: string, flags: ProductFlags, command: Command) => {
      if (flags.method !== 'sumcheck') refuseUnused(command, ['code'], 'without --method sumcheck')
      if (flags.method === 'zk') refuseUnused(command, ['on', 'replicas', 'segmentLimit', 'inputs'], OF_ZK)
      return context.run((signal) =>
        flags.method === 'zk' ? runPrivateProduct([a, b], flags, context) : runMatmul([a, b], flags, context, signal),
      )
    })
  addClassify(run, context)
  addTraining(addRunOptions(run.command('train'), undefined, TRAINING_METHODS), context)
  addInference(addRunOptions(run.command('infer')), context)
  addSimulation(addRunOptions(run.command('simulate')), context)
  // Nobody can check a picture without its scene.
  addRendering(addRunOptions(run.command('render'), 'touchstone-inputs'), context)
}

/** The owner of the weights does it himself: nobody else may see them. */
function addClassify(run: Command, context: CommandContext): void {
  run
    .command('classify')
    .description('scores of a linear model whose weights stay hidden, proven in zero knowledge; on this machine')
    .argument('<weights>', 'int8 as an .npy file, a row for each class')
    .argument('<input>', 'int8 as an .npy file, a row for each input')
    .option('--method <name>', 'zk is the one there is', readOneOf({ zk: 'zk' }, 'Use zk.'), 'zk')
    .option('--out <file>', 'where the scores go, as int32, a row for each input', 'scores.npy')
    .option('--receipt <file>', 'where the receipt goes', 'touchstone.receipt')
    .option('--json', 'print the outcome as JSON')
    .action((weights: string, input: string, flags: ClassifyFlags) =>
      context.run(() => runClassify([weights, input], flags, context)),
    )
}

const readFamily = readOneOf({ gpt: 'gpt', llama: 'llama', mlp: 'mlp' }, 'Use gpt, llama or mlp.')
const readSizes = readList('Use sizes as 128,64.', (text) => /^[1-9]\d{0,4}$/.test(text))

const addTraining = (command: Command, context: CommandContext): Command =>
  command
    .description('train a language model on the bytes of a file, or an MLP on drawn digits')
    .argument('[text]', 'any file; none for an MLP')
    .option('--family <name>', 'gpt, llama or mlp', readFamily, 'gpt')
    .option('--hidden <sizes>', 'layers of an MLP, as 128,64', readSizes)
    .option('--layers <count>', 'layers', readWhole(1, 256), 4)
    .option('--width <count>', 'width of a layer', readWhole(2, 65_536), 128)
    .option('--heads <count>', 'heads of attention', readWhole(1, 1024), 4)
    .option('--tokens <count>', 'bytes in a sequence', readWhole(1, 131_072), 128)
    .option('--sequences <count>', 'sequences in a step', readWhole(1, 65_536), 8)
    .option('--steps <count>', 'steps', readWhole(1, 1_000_000), 50)
    .option('--shards <count>', 'equal parts of a step, for as many cards of a box', readWhole(1, 64), 1)
    .option('--rate <number>', 'the highest learning rate', readNumber(1e-8, 1), 0.003)
    .option(
      '--products <which>',
      'with sumcheck: shared (gradients of weights; the default), or all (every other product too, of what was committed as its operands)',
      readOneOf({ shared: 'shared', all: 'all' }, 'Use shared or all.'),
    )
    .option('--from <file>', 'begin with these weights, or go on from this state (safetensors)')
    .option('--state <file>', 'where the whole state goes, for --from')
    .option('--out <file>', 'where the weights go', 'model.safetensors')
    .action((text: string | undefined, flags: TrainingFlags) => {
      if (flags.family === 'mlp') refuseUnused(command, ['layers', 'width', 'heads', 'tokens'], 'for an MLP')
      else refuseUnused(command, ['hidden'], 'but for an MLP')
      if (flags.method !== 'sumcheck') refuseUnused(command, ['products'], 'without --method sumcheck')
      return context.run((signal) => runTraining(text, flags, context, signal))
    })

const addSimulation = (command: Command, context: CommandContext): Command =>
  command
    .description('the flow of a fluid around obstacles')
    .option('--size <cells>', 'as 128x64x64, or one number for a cube; multiples of 4', readSize, [64, 32, 32])
    .option('--steps <count>', 'steps', readWhole(1, 10_000_000), 200)
    .option('--interval <count>', 'steps between states that are committed (default: a sixteenth)', readWhole(1, 256))
    .option('--viscosity <number>', 'in cells and steps', readNumber(0.0001, 10), 0.02)
    .option('--speed <number>', 'of the stream, in cells a step', readNumber(0, 0.3), 0.08)
    .option('--noise <number>', 'how far velocities differ at the beginning', readNumber(0, 0.3), 0.001)
    .option('--obstacle <shape>', 'sphere:X,Y,Z,R, cylinder:X,Y,R or box:X,Y,Z,X,Y,Z; may be repeated', addObstacle)
    .option('--walls', 'a floor and a ceiling')
    .option('--pictures <folder>', 'where pictures of the flow go, as they come')
    .option('--frames <count>', 'at most so many pictures, of states that are committed', readWhole(1, 10_000), 10)
    .option('--out <file>', 'where density and velocity go, as float32 of 4 by z by y by x', 'field.npy')
    .action((flags: Parameters<typeof runSimulation>[0]) => {
      if (flags.pictures === undefined) refuseUnused(command, ['frames'], 'without --pictures')
      return context.run((signal) => runSimulation(flags, context, signal))
    })

const addRendering = (command: Command, context: CommandContext): Command =>
  command
    .description('a picture of a scene, by path tracing')
    .argument('<scene>', 'a glTF file in one piece (.glb), without textures')
    .option('--width <pixels>', 'a multiple of 8', readWhole(8, 16_384), 640)
    .option('--height <pixels>', 'a multiple of 8', readWhole(8, 16_384), 360)
    .option('--samples <count>', 'paths of light for each pixel', readWhole(1, 4096), 16)
    .option('--bounces <count>', 'how often light turns', readWhole(1, 16), 6)
    .option('--zenith <colour>', 'light from above, as 0.5,0.7,1', readLight, [0.5, 0.7, 1])
    .option('--horizon <colour>', 'light from around', readLight, [1, 1, 1])
    .option('--out <file>', 'where the picture goes', 'picture.png')
    .action((scene: string, flags: Parameters<typeof runRendering>[1]) =>
      context.run((signal) => runRendering(scene, flags, context, signal)),
    )

const AFTER_HELP = `
The receipt is checked on any machine, with the command that is printed at the
end; elsewhere add --trust YOUR_KEY. Ends with 0 where the work was shown, with 4
where something is left open: the result of a box that you do not own, for one.

Whoever works learns what is looked at when everything is committed to. What
does not hold, or comes too late, is rejected: nothing is written then (1). Nor is
it of a work that has no result, since its numbers leave the arithmetic (2).

Examples:
  touchstone work run matmul a.npy b.npy
  touchstone work run matmul a.npy b.npy --method sumcheck
  touchstone work run matmul a.npy b.npy --method zk
  touchstone work run matmul a.npy b.npy --method attest --on root@host
  touchstone work run classify weights.npy inputs.npy
  touchstone work run train book.txt --steps 100 --on root@host
  touchstone work run train book.txt --method sumcheck
  touchstone work run train --family mlp --sequences 64 --rate 0.02 --steps 768
  touchstone work run infer --model ./gpt2 --prompt "Once upon a time"
  touchstone work run simulate --size 128x64x64 --steps 1000 --pictures flow
  touchstone work run render scene.glb --width 1280 --height 720 --samples 64`
