import { openCpuDevice } from '../drivers/gpu/cpu/openCpuDevice.ts'
import type { Device } from '../ports/device.ts'
import { TouchstoneError } from '../ports/errors.ts'

/** `auto` takes every card there is, and the CPU where there is none; a list such as `cpu,cpu` opens what it names. */
export async function openDevices(list: string): Promise<Device[]> {
  const names = list === 'auto' ? ['cpu'] : list.split(',')
  const devices: Device[] = []
  for (const name of names) {
    if (name !== 'cpu') throw unknownDevice(name)
    devices.push(await openCpuDevice({}))
  }
  return devices
}

const unknownDevice = (name: string) =>
  new TouchstoneError(
    { code: 'UNKNOWN_DEVICE' },
    {
      message: `there is no kind of device called ${name.slice(0, 20)}`,
      blame: 'user',
      retry: false,
      nextStep: 'Use auto, cpu or cuda.',
    },
  )
