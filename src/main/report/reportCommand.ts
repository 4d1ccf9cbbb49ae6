import type { Command } from 'commander'
import { addReaderOptions } from '../check/checkCommand.ts'
import type { CommandContext } from '../run.ts'
import { type ReportFlags, writeReport } from './writeReport.ts'

export function addReportCommand(program: Command, context: CommandContext): void {
  const command = program
    .command('report')
    .description('check a certificate and write what was found as one page to send to anyone')
    .argument('<file>', 'a certificate, or a summary of one; - or a URL too')
    .requiredOption('--html [file]', 'the page to write (required); without a name, beside the certificate')
  addReaderOptions(command)
    .option('--json', 'print the outcome as JSON')
    .addHelpText('after', AFTER_HELP)
    .action((file: string, flags: ReportFlags) => context.run((signal) => writeReport(file, flags, context, signal)))
}

const AFTER_HELP = `
The page holds everything: it runs no script and asks no server. The certificate
is inside, for whoever wants to check it; the page itself proves nothing. Ends
as "touchstone check" does.

Example:
  touchstone report touchstone-certificate.json --html report.html --trust KEY`
