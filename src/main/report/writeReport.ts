import { isProblem } from '../../core/certificate/problems.ts'
import { ensureApart, writeAside } from '../../drivers/system/writeAside.ts'
import { answerOfCheck } from '../check/checkAnswer.ts'
import { type CheckFlags, runCheck } from '../check/checkFile.ts'
import { checkJson } from '../check/checkLines.ts'
import { exitOfCheck } from '../exitCodes.ts'
import { answerLines } from '../render/answer.ts'
import { labelled } from '../render/labelled.ts'
import { openTerminal } from '../render/terminal.ts'
import type { CommandContext } from '../run.ts'
import { ownKey } from '../system.ts'
import { programName } from '../version.ts'
import { pageStyle } from './page.ts'
import { reportPage } from './reportPage.ts'

export interface ReportFlags extends CheckFlags {
  readonly html: string | true
}

/** Checks a file, writes what was found as one page, and says where. */
export async function writeReport(
  file: string,
  flags: ReportFlags,
  { env }: CommandContext,
  signal: AbortSignal,
): Promise<number> {
  const out = flags.html === true ? pageName(file) : flags.html
  ensureApart([out], [file, flags.full, flags.catalogue, flags.revoked])
  const { shown, signed } = await runCheck(file, flags, { env, own: ownKey(env, 'validator').publicKey }, signal)
  const certificate = isProblem(signed) ? null : signed
  writeAside(out, reportPage({ shown, certificate, program: programName, style: pageStyle() }))
  if (flags.json) process.stdout.write(`${JSON.stringify({ ...checkJson(shown), html: out })}\n`)
  else {
    const people = openTerminal(process.stdout, env)
    people.lines([...answerLines(answerOfCheck(shown, true), people), ...labelled('page', out, 7, people.columns)])
  }
  return exitOfCheck(shown.checked)
}

/** Beside the file; where there is none, here. */
const pageName = (file: string): string =>
  file === '-' || file.includes('://') ? 'touchstone-report.html' : `${file.replace(/\.json$/, '')}.html`
