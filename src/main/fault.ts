import { type Blame, TouchstoneError } from '../ports/errors.ts'

/** A fault as a person or a script is told it. */
export interface Fault {
  readonly code: string
  readonly message: string
  readonly blame: Blame
  readonly retry: boolean
  readonly nextStep: string
}

export function faultOf(error: unknown): Fault {
  if (!(error instanceof TouchstoneError))
    return {
      code: 'UNEXPECTED',
      message: error instanceof Error ? plain(error.message) : 'something unknown went wrong',
      blame: 'validator',
      retry: false,
      nextStep: 'run again with TOUCHSTONE_DEBUG=1 and report what it prints.',
    }
  const { detail, message, blame, retry, nextStep } = error
  return { code: plain(detail.code), message: plain(message), blame, retry, nextStep: plain(nextStep) }
}

/** What stood on the command line, as commander refuses it. */
export const usageFault = (message: string, help: string): Fault => ({
  code: 'USAGE',
  message: plain(message.replace(/^error: /, '')),
  blame: 'user',
  retry: false,
  nextStep: `Run "${help}" for what there is.`,
})

export const INTERRUPTED: Fault = {
  code: 'INTERRUPTED',
  message: 'interrupted; nothing of it keeps running',
  blame: 'user',
  retry: true,
  nextStep: 'Run it again.',
}

/** Whether the command line asks for JSON: known before it is parsed, since parsing may be what fails. */
export const wantsJson = (args: readonly string[]): boolean => {
  const end = args.indexOf('--')
  return args.slice(0, end < 0 ? args.length : end).includes('--json')
}

/** A sentence may name a file, a host or a field that somebody else chose: whatever it holds, it moves no cursor. */
const plain = (text: string): string => text.replace(/\s+/g, ' ').replace(/\p{C}/gu, '?')
