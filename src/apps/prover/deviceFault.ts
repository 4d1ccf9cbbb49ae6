import { printable } from '../../core/bytes/printable.ts'
import type { Answer } from '../../core/wire/messages.ts'
import type { Device } from '../../ports/device.ts'
import { TouchstoneError } from '../../ports/errors.ts'

/** A fault that one device is to blame for: the others can go on without it. */
export class DeviceFault extends Error {
  readonly device: Device

  constructor(device: Device, cause: unknown) {
    super('a device failed', { cause })
    this.device = device
  }
}

/** What a device throws of its own, with the device; an order nobody could carry out stays the validator's fault. */
export const blame = (device: Device, error: unknown): unknown =>
  error instanceof TouchstoneError && error.blame === 'prover' ? new DeviceFault(device, error) : error

export async function blaming<T>(device: Device, work: Promise<T> | T): Promise<T> {
  try {
    return await work
  } catch (error) {
    throw blame(device, error)
  }
}

const SPEECHLESS = { fault: 'PROVER_FAULT', unable: 'HOST_FAULT' } as const

/** A fault as the validator hears it: the code, what happened, and what to do. What is only `unable` ends nothing. */
export function faultAnswer(fault: unknown, type: keyof typeof SPEECHLESS = 'fault'): Answer {
  const error = fault instanceof DeviceFault ? fault.cause : fault
  const message = error instanceof Error ? error.message : 'unknown'
  if (!(error instanceof TouchstoneError)) return { type, code: SPEECHLESS[type], text: printable(message, 400) }
  return { type, code: error.detail.code, text: printable(`${message}. ${error.nextStep}`, 400) }
}
