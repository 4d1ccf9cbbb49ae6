/** A card as the kernel module tells it, under /proc/driver/nvidia/gpus. */
export interface KernelGpu {
  readonly bus: string
  readonly uuid: string
  readonly name: string
}

/** A card as the driver tells it, through CUDA and NVML. */
export interface DriverGpu extends KernelGpu {
  /** Where NVML says that the card of this bus sits; null, as below, where it does not tell. */
  readonly nvmlBus: string | null
  /** Device and vendor of the chip, for example 0x233510de. */
  readonly deviceId: number | null
  /** The same of the board. */
  readonly subsystemId: number | null
}

/** A card as the PCI bus tells it, under /sys/bus/pci/devices. */
export interface PciGpu {
  readonly bus: string
  readonly deviceId: number
  /** Null where the bus does not tell. */
  readonly subsystemId: number | null
}

/** "00000000:17:00.0" and "0000:17:00.0" are the same place; null for what is not a place on a bus. */
export function normalBus(text: string): string | null {
  const match = /^(?:0000)?([0-9a-f]{4}):([0-9a-f]{2}):([0-9a-f]{2})\.([0-7])$/i.exec(text)
  if (match === null) return null
  return `${match[1]}:${match[2]}:${match[3]}.${match[4]}`.toLowerCase()
}

/**
 * Where the sources contradict each other or themselves; one that is null could not be read, and so contradicts nothing.
 * Claims all of them: whoever owns the box owns these files too. Agreement catches accidents and lazy forgeries.
 */
export function crossCheckGpus(
  driver: readonly DriverGpu[],
  kernel: readonly KernelGpu[] | null,
  pci: readonly PciGpu[] | null,
) {
  const usable = byBus(driver)
  const [inKernel, onPci] = [kernel && byBus(kernel), pci && byBus(pci)]
  const known = new Set([...(inKernel?.keys() ?? []), ...(onPci?.keys() ?? [])])
  const hidden = [...known].filter((bus) => !usable.has(bus))
  return {
    sources: ['driver', ...(kernel ? ['kernel'] : []), ...(pci ? ['pci'] : [])],
    /** Cards the machine has beyond those we may use: other tenants', or switched off for us. */
    hidden: hidden.length,
    disagreements: [
      ...driver.flatMap((gpu, i) => contradictions(gpu, driver.slice(0, i), inKernel, onPci)),
      // A card that the kernel lists, but that we may not use, must still be on the bus.
      ...hidden.filter((bus) => onPci && !onPci.has(bus)).map((bus) => ({ code: 'NOT_ON_PCI', bus })),
    ],
  }
}

function byBus<T extends { readonly bus: string }>(cards: readonly T[]): ReadonlyMap<string | null, T> {
  return new Map(cards.map((card) => [normalBus(card.bus), card] as const).filter(([bus]) => bus !== null))
}

/** Of one card, given those listed before it. */
function contradictions(
  gpu: DriverGpu,
  before: readonly DriverGpu[],
  inKernel: ReadonlyMap<string | null, KernelGpu> | null,
  onPci: ReadonlyMap<string | null, PciGpu> | null,
): readonly { readonly code: string; readonly bus: string }[] {
  const place = normalBus(gpu.bus)
  const bus = place ?? gpu.bus
  const module = inKernel?.get(place)
  const device = onPci?.get(place)
  const found = {
    ODD_BUS: place === null,
    // Attack 35 at its laziest: one card in the list more than once.
    BUS_TWICE: before.some((other) => (normalBus(other.bus) ?? other.bus) === bus),
    UUID_TWICE: before.some((other) => other.uuid === gpu.uuid),
    // CUDA and NVML are two libraries of one driver: what one finds at a place the other must find there too.
    NVML_BUS_DIFFERS: place !== null && gpu.nvmlBus !== null && normalBus(gpu.nvmlBus) !== place,
    NOT_IN_KERNEL: place !== null && inKernel !== null && !module,
    // Before its first use a card has no UUID in the kernel's file, only question marks.
    UUID_DIFFERS: module && module.uuid !== '' && !module.uuid.includes('?') && module.uuid !== gpu.uuid,
    NAME_DIFFERS: module && plainName(module.name) !== plainName(gpu.name),
    NOT_ON_PCI: place !== null && onPci !== null && !device,
    DEVICE_ID_DIFFERS: device && gpu.deviceId !== null && gpu.deviceId !== device.deviceId,
    SUBSYSTEM_DIFFERS: device && differ(gpu.subsystemId, device.subsystemId),
  }
  return Object.entries(found).flatMap(([code, is]) => (is ? [{ code, bus }] : []))
}

const differ = (one: number | null, other: number | null): boolean => one !== null && other !== null && one !== other

const plainName = (name: string): string =>
  name
    .toLowerCase()
    .replace(/^nvidia\s+/, '')
    .replace(/\s+/g, ' ')
    .trim()
