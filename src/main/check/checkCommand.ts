import { type Command, Option } from 'commander'
import { toMillis } from '../../core/units/instants.ts'
import { addVendorOptions } from '../attestationRules.ts'
import { addKey, addText, readDuration, reader, readKey, readWhole, refuseUnused } from '../parseOptions.ts'
import type { CommandContext } from '../run.ts'
import { type CheckFlags, checkFile } from './checkFile.ts'

/** What a reader asks of a file, and what it is judged by. */
export const addReaderOptions = (command: Command): Command =>
  command
    .option('--trust <key>', 'public key of a validator you trust, hex; may be repeated', addKey)
    .option('--signer <key>', 'trust this key, and refuse what it has not signed; may be repeated', addKey)
    .option('--signers <count>', 'how many trusted keys must have signed', readWhole(1, 8), 1)
    .option('--prover <key>', 'refuse the certificate of any other box', readKey)
    .option('--claim <text>', 'what you were sold, for example "8x H100 SXM": hold the box against that')
    .option('--max-age <duration>', 'refuse what is older, for example 90m, 24h or 7d', readDuration)
    .option(
      '--revoked <file>',
      'signers that ended, besides those in revoked.json beside your keys, which alone names successors',
    )
    .option('--catalogue <file>', 'judge by this catalogue of cards instead of the one that came with the program')
    .option('--full <file>', 'the certificate of the summary that is checked')

export function addCheckCommand(program: Command, context: CommandContext): void {
  const command = program
    .command('check')
    .description('re-verify a certificate offline: signatures, challenge, every opening, every figure')
    .argument(
      '<file>',
      'a certificate, a summary of one, the receipt of a work, or the evidence of a hardware vendor; - or a URL too',
    )
  addVendorOptions(addReaderOptions(command))
    .option('--summary <file>', 'write a summary of a certificate that you signed')
    .addOption(
      // A signature says that all of it held: that takes every opening.
      new Option(
        '--countersign <file>',
        'write the certificate with your signature added, if everything holds',
      ).conflicts('sample'),
    )
    .option('--sample <count>', 'check only this many openings, drawn at random', readWhole(1, 1_000_000))
    .addOption(
      new Option('--inputs <folder>', 'receipt of a work: its inputs, NAME.bin each (work run --inputs)').conflicts(
        'replay',
      ),
    )
    .option('--replay <folder>', 'the same, and run the whole work again from them')
    .option(
      '--given <file>',
      'receipt of a work: what you had it made of, as it says; of a product A, then B, as .npy; of a private answer its inputs, a row each; may be repeated',
      addText,
    )
    .option(
      '--result <file>',
      'receipt of a work: what came of it, to be compared; of a proven product C, of a private answer its scores, as .npy',
    )
    .option('--certificate <file>', 'receipt of a work: the certificate of its box, whose speed bounds it')
    .option(
      '--tokenizer <folder>',
      'with --result of an inference: the folder of the model, whose weights are compared',
    )
    .option('--code <hex>', 'its operands under a code: that of A, then of B, as published; give it twice', addKey)
    .option('--model <hex>', 'receipt of a private answer: what the model is called that you asked', readKey)
    .option('--nonce <hex>', 'evidence of a hardware vendor: the nonce that you chose', readKey)
    .addOption(
      new Option('--receipt <file>', 'evidence of a hardware vendor: the work that it must belong to').conflicts(
        'nonce',
      ),
    )
    .option('--at <time>', 'when the evidence was made, as 2026-01-31T12:00:00Z (default: now)', readInstant)
    .option('--verbose', 'show everything about each card instead of one row')
    .option('--json', 'print the outcome as JSON')
    .addHelpText('after', AFTER_HELP)
    .action((file: string, flags: CheckFlags) => {
      if (flags.result === undefined) refuseUnused(command, ['tokenizer'], 'without --result')
      return context.run((signal) => checkFile(file, flags, context, signal))
    })
}

const AFTER_HELP = `
Your own key is trusted anyway. Take any other from its owner, not from the
file. docs/verdict.md explains every line. Ends with 0 (valid, genuine and as
claimed), 1 (refused, or not as claimed), 2 (usage), 3 (fault) or 4 (not
established: expired, judged otherwise by your catalogue or by the rules of
today, or the claim is neither shown nor refuted).

"As claimed" means as the signer was told the box was sold; without a claim any
genuine box ends with 0, a CPU too. If you buy, say what with --claim.

A summary by itself is its signer's word and ends with 4; with --full everything
is checked. Countersign only what you watched yourself.

--result compares what came of a work with its receipt: another file ends with
1, one that cannot be compared with 2 and what it takes. Name what you had it
made of with --given too: other inputs end with 1, and none with 4. That a
result is right takes --replay, or the proof of a product as a whole: without
it the check ends with 4, for one wrong step that was not drawn makes another.

A receipt of rendering can be checked only with the inputs of the work: its
patches read all of the scene. --replay leaves nothing to chance, and takes as
long as the work did on a processor.

Evidence that NVIDIA's tools wrote is judged offline: chain, signature, nonce,
firmware. What is not handed in is not established and ends with 4.

A product proven by sumcheck is checked against A, B and C, in a fraction of the
time that it takes to compute.

Examples:
  touchstone check touchstone-certificate.json --signer KEY --max-age 7d
  touchstone check touchstone-certificate.json --trust KEY --claim "8x H100 SXM"
  touchstone check summary.json --full touchstone-certificate.json --trust KEY
  touchstone check touchstone.receipt --given a.npy --given b.npy --result c.npy
  touchstone check evidence.json --nonce HEX --rim driver.xml --rim vbios.xml
  touchstone check touchstone-evidence.json --receipt touchstone.receipt`

const readInstant = reader('Use a time such as 2026-01-31T12:00:00Z.', (text) => {
  const millis = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/.test(text) ? toMillis(text) : Number.NaN
  return Number.isFinite(millis) ? millis : null
})
