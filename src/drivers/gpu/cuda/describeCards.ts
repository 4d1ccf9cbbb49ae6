import { printable } from '../../../core/bytes/printable.ts'
import type { DeviceFacts } from '../../../ports/device.ts'
import { crossCheckGpus, type DriverGpu } from './crossCheckGpus.ts'
import { readKernelGpus, readPciGpus } from './readGpuSources.ts'

/** Which sources list the cards of this machine, how many are not for us, and what the sources disagree about. */
export async function describeCards(devices: readonly DeviceFacts[]): Promise<DeviceFacts['details']> {
  const cards = devices.map(driverGpu)
  const { sources, hidden, disagreements } = crossCheckGpus(cards, await readKernelGpus(), await readPciGpus())
  const differences = disagreements.map(({ code, bus }) => `${code} at ${bus}`).join('; ')
  return {
    gpuSources: sources.join(', '),
    gpuHidden: hidden,
    gpuDisagreements: printable(differences === '' ? 'none' : differences, 110),
  }
}

const driverGpu = ({ name, details }: DeviceFacts): DriverGpu => ({
  bus: String(details.pci ?? ''),
  uuid: String(details.uuid ?? ''),
  name,
  nvmlBus: typeof details.nvmlPci === 'string' ? details.nvmlPci : null,
  deviceId: idOf(details.pciDeviceId),
  subsystemId: idOf(details.pciSubsystemId),
})

/** A board without an id of its own says 0. */
const idOf = (text: unknown): number | null => Number(text ?? 0) || null
