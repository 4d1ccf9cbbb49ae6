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
