import { type Blame, TouchstoneError } from '../ports/errors.ts'
import { fault } from './faults.ts'

/** A fault as a person or a script is told it. */
export interface Fault {
  readonly code: string
  readonly message: string
  readonly blame: Blame
  readonly retry: boolean
  readonly nextStep: string
}

/** A sentence may name a file, a host or a field that somebody else chose: whatever it holds, it moves no cursor. */
const plain = (text: string): string => text.replace(/\s+/g, ' ').replace(/\p{C}/gu, '?')

export function faultOf(error: unknown): Fault {
  const why = error instanceof Error ? error.message : 'something unknown went wrong'
  const { detail, message, blame, retry, nextStep } =
    error instanceof TouchstoneError ? error : fault('UNEXPECTED', { why })
  return { code: plain(detail.code), message: plain(message), blame, retry, nextStep: plain(nextStep) }
}

/** What stood on the command line, as commander refuses it. */
export const usageFault = (message: string, help: string): Fault =>
  faultOf(fault('USAGE', { why: message.replace(/^error: /, ''), help }))

export const INTERRUPTED: Fault = faultOf(fault('INTERRUPTED'))

/** Whether the command line asks for JSON: known before it is parsed, since parsing may be what fails. */
export const wantsJson = (args: readonly string[]): boolean => {
  const end = args.indexOf('--')
  return args.slice(0, end < 0 ? args.length : end).includes('--json')
}
