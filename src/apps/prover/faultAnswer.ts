import { printable } from '../../core/bytes/printable.ts'
import type { Answer } from '../../core/wire/messages.ts'
import { TouchstoneError } from '../../ports/errors.ts'
import { DeviceFault } from './deviceFault.ts'

const SPEECHLESS = { fault: 'PROVER_FAULT', unable: 'HOST_FAULT' } as const

/** A fault as the validator hears it: the code, what happened, and what to do. What is only `unable` ends nothing. */
export function faultAnswer(fault: unknown, type: keyof typeof SPEECHLESS = 'fault'): Answer {
  const error = fault instanceof DeviceFault ? fault.cause : fault
  const message = error instanceof Error ? error.message : 'unknown'
  if (!(error instanceof TouchstoneError)) return { type, code: SPEECHLESS[type], text: printable(message, 400) }
  return { type, code: error.detail.code, text: printable(`${message}. ${error.nextStep}`, 400) }
}
