import { arch, cpus, platform, release, tmpdir, totalmem } from 'node:os'
import { printable } from '../core/bytes/printable.ts'
import { crossCheckGpus, type DriverGpu } from '../drivers/gpu/cuda/crossCheckGpus.ts'
import { readKernelGpus, readPciGpus } from '../drivers/gpu/cuda/readGpuSources.ts'
import { HOST_BUDGET, measureHost } from '../drivers/host/measureHost.ts'
import type { DeviceFacts } from '../ports/device.ts'

export type HostDetails = Record<string, string | number | boolean>

/** What the prover says of the box around its devices; core/inventory/hostFields says what each field is worth. */
export async function hostDetails(
  devices: readonly DeviceFacts[],
  measure: boolean,
  signal: AbortSignal,
): Promise<HostDetails> {
  return {
    platform: platform(),
    release: printable(release(), 100),
    arch: arch(),
    cpu: printable(cpus()[0]?.model ?? 'unknown', 100),
    cores: cpus().length,
    memoryBytes: totalmem(),
    ...(await gpuDetails(devices)),
    ...(measure ? await measureHost({ ...HOST_BUDGET, diskFolder: tmpdir() }, signal) : {}),
  }
}

async function gpuDetails(devices: readonly DeviceFacts[]): Promise<HostDetails> {
  const cards = devices.filter(({ backEnd }) => backEnd === 'cuda').map(driverGpu)
  if (cards.length === 0) return {}
  const { sources, hidden, disagreements } = crossCheckGpus(cards, await readKernelGpus(), await readPciGpus())
  const differences = disagreements.map(({ code, bus }) => `${code} at ${bus}`).join('; ')
  return {
    gpuSources: sources.join(', '),
    gpuHidden: hidden,
    gpuDisagreements: printable(differences === '' ? 'none' : differences, 110),
  }
}

const driverGpu = ({ name, memoryBytes, details }: DeviceFacts): DriverGpu => ({
  bus: String(details.pci ?? ''),
  uuid: String(details.uuid ?? ''),
  name,
  memoryBytes,
  nvmlBus: typeof details.nvmlPci === 'string' ? details.nvmlPci : null,
  deviceId: idOf(details.pciDeviceId),
  subsystemId: idOf(details.pciSubsystemId),
})

/** A board without an id of its own says 0. */
const idOf = (text: unknown): number | null => Number(text ?? 0) || null
