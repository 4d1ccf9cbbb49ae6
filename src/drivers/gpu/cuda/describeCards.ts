import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { printable, SHORT_TEXT } from '../../../core/bytes/printable.ts'
import type { DeviceFacts } from '../../../ports/device.ts'
import { crossCheckGpus, type DriverGpu, type KernelGpu, type PciGpu } from './crossCheckGpus.ts'

/** Which sources list the cards of this machine, how many are not for us, and what the sources disagree about. */
export async function describeCards(devices: readonly DeviceFacts[]): Promise<DeviceFacts['details']> {
  const cards = devices.map(driverGpu)
  const { sources, hidden, disagreements } = crossCheckGpus(cards, await readKernelGpus(), await readPciGpus())
  const differences = disagreements.map(({ code, bus }) => `${code} at ${bus}`).join('; ')
  return {
    gpuSources: sources.join(', '),
    gpuHidden: hidden,
    gpuDisagreements: printable(differences === '' ? 'none' : differences, SHORT_TEXT),
  }
}

/** The cards by the kernel module's names or, where it is not loaded, as many as there are on the bus. */
export async function listedCards(
  folders: { readonly kernel?: string; readonly pci?: string } = {},
): Promise<string | null> {
  const names = (await readKernelGpus(folders.kernel))?.map(({ name }) => name || 'NVIDIA card') ?? []
  if (names.length > 0)
    return [...new Set(names)].map((name) => `${names.filter((one) => one === name).length} x ${name}`).join(', ')
  const onBus = (await readPciGpus(folders.pci))?.length ?? 0
  return onBus === 0 ? null : `${onBus} x NVIDIA card`
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

const NVIDIA = 0x10de
/** VGA controllers and 3D controllers; the audio and USB functions of a card are not cards. */
const DISPLAY_CLASSES = [0x0300, 0x0302]
const MAX_CARDS = 64

/** The kernel module's own list, or null where the module is not loaded or hidden from us. */
export async function readKernelGpus(folder = '/proc/driver/nvidia/gpus'): Promise<readonly KernelGpu[] | null> {
  const buses = await readdir(folder).catch(() => null)
  if (buses === null) return null
  const cards = buses.slice(0, MAX_CARDS).map(async (bus) => {
    const text = await readFile(join(folder, bus, 'information'), 'utf8').catch(() => '')
    const field = (name: string): string =>
      printable(new RegExp(`^${name}:[ \\t]*(.*)$`, 'm').exec(text)?.[1]?.trim() ?? '', 100)
    return { bus: field('Bus Location') || bus, uuid: field('GPU UUID'), name: field('Model') }
  })
  return Promise.all(cards)
}

/** NVIDIA display devices on the PCI bus, or null where the bus cannot be read. */
export async function readPciGpus(folder = '/sys/bus/pci/devices'): Promise<readonly PciGpu[] | null> {
  const buses = await readdir(folder).catch(() => null)
  if (buses === null) return null
  const cards = await Promise.all(buses.map((bus) => readPciGpu(folder, bus)))
  return cards.flatMap((card) => (card === null ? [] : [card])).slice(0, MAX_CARDS)
}

async function readPciGpu(folder: string, bus: string): Promise<PciGpu | null> {
  const number = async (name: string): Promise<number> =>
    Number(await readFile(join(folder, bus, name), 'utf8').catch(() => ''))
  if ((await number('vendor')) !== NVIDIA) return null
  if (!DISPLAY_CLASSES.includes((await number('class')) >> 8)) return null
  const [device, board, maker] = await Promise.all(['device', 'subsystem_device', 'subsystem_vendor'].map(number))
  return { bus, deviceId: joined(device!, NVIDIA), subsystemId: board && maker ? joined(board, maker) : null }
}

/** As NVML writes them: device in the upper half, vendor in the lower. */
const joined = (device: number, vendor: number): number => device * 0x10000 + vendor
