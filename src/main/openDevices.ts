import { openCpuDevice } from '../drivers/gpu/cpu/openCpuDevice.ts'
import { fault as cudaFault } from '../drivers/gpu/cuda/faults.ts'
import { openCudaDevices } from '../drivers/gpu/cuda/openCudaDevices.ts'
import type { Device } from '../ports/device.ts'
import { fault } from './faults.ts'

type OnFailure = (fault: unknown) => void

/**
 * `auto` takes every card there is, and the CPU where there is none; a list such as `cpu,cpu` opens what it names. Of
 * several cards one that cannot be opened is told and left out; a card that was named alone is a fault.
 */
export async function openDevices(list: string, onFailure: OnFailure): Promise<Device[]> {
  if (list === 'auto') return openWhatThereIs(onFailure)
  const devices: Device[] = []
  for (const name of list.split(',')) devices.push(...(await openNamed(name, onFailure)))
  return devices
}

/** A box without a card is no fault; a card that cannot be opened is. */
async function openWhatThereIs(onFailure: OnFailure): Promise<Device[]> {
  try {
    return await openCudaDevices({ onFailure })
  } catch (error) {
    if (cudaFault.is(error, 'NO_GPU_DRIVER', 'NO_GPU')) return [await openCpuDevice({})]
    throw error
  }
}

/** `cpu`, `cuda` (all cards) or `cuda:1` (one of them). */
async function openNamed(name: string, onFailure: OnFailure): Promise<Device[]> {
  if (name === 'cpu') return [await openCpuDevice({})]
  if (name === 'cuda') return openCudaDevices({ onFailure })
  const ordinal = /^cuda:(\d{1,2})$/.exec(name)?.[1]
  if (ordinal !== undefined) return openCudaDevices({ ordinals: [Number(ordinal)] })
  throw unknownDevice(name)
}

const unknownDevice = (name: string) =>
  fault('UNKNOWN_DEVICE', {
    what: 'there is no kind of device called',
    name: name.slice(0, 20),
    kinds: 'auto, cpu, cuda, or cuda:0 for one card',
  })
