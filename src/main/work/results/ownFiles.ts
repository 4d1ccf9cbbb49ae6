import type { OwnFiles } from '../../../core/certificate/receiptEvidence.ts'
import { inputRuleOf, otherInput } from './givenInputs.ts'
import { type ResultAtHand, type ResultFlags, resultAtHand } from './resultAtHand.ts'

interface OwnFlags extends ResultFlags {
  readonly result?: string
  readonly given?: readonly string[]
}

/** What `--given` and `--result` name, ready to be held against a receipt. */
export function ownFiles(flags: OwnFlags): OwnFiles & Partial<Pick<ResultAtHand, 'see'>> {
  const { given = [] } = flags
  const result = flags.result === undefined ? null : resultAtHand(flags.result, flags)
  return {
    ...(result ? { see: result.see } : {}),
    hasResult: result !== null,
    async problemWith(read) {
      const input = await otherInput(read.work, given)
      if (input !== null) return { code: 'OTHER_TENSOR', where: input }
      const where = result && (await result.problemWith(read))
      return where === null ? null : { code: 'OTHER_RESULT', where }
    },
    lacking(work) {
      const wanted = given.length > 0 ? [] : (inputRuleOf(work)?.files(work) ?? [])
      return wanted.length === 0 ? null : `add ${wanted.map((file) => `--given ${file}`).join(' ')}`
    },
  }
}
