import { printable } from '../../core/bytes/printable.ts'
import type { Answer } from '../../core/wire/messages.ts'
import { TouchstoneError } from '../../ports/errors.ts'
import { DeviceFault } from './deviceFault.ts'

/** A fault as the validator hears it: the code, what happened, and what to do. */
export function faultAnswer(fault: unknown): Answer {
  const error = fault instanceof DeviceFault ? fault.cause : fault
  if (error instanceof TouchstoneError)
    return { type: 'fault', code: error.detail.code, text: printable(`${error.message}. ${error.nextStep}`, 400) }
  return {
    type: 'fault',
    code: 'PROVER_FAULT',
    text: printable(error instanceof Error ? error.message : 'unknown', 400),
  }
}
