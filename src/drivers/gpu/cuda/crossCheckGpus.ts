/** A card as the driver tells it, through CUDA and NVML. */
export interface DriverGpu {
  readonly bus: string
  readonly uuid: string
  readonly name: string
  readonly memoryBytes: number
  /** Where NVML says that the card of this bus sits; null, as below, where it does not tell. */
  readonly nvmlBus: string | null
  /** Device and vendor of the chip, for example 0x233510de. */
  readonly deviceId: number | null
  /** The same of the board. */
  readonly subsystemId: number | null
}

/** A card as the kernel module tells it, under /proc/driver/nvidia/gpus. */
export interface KernelGpu {
  readonly bus: string
  readonly uuid: string
  readonly name: string
}

/** A card as the PCI bus tells it, under /sys/bus/pci/devices. */
export interface PciGpu {
  readonly bus: string
  readonly deviceId: number
  /** Null where the bus does not tell. */
  readonly subsystemId: number | null
}

/** One way in which the sources contradict each other or themselves. */
export interface GpuDisagreement {
  readonly code:
    | 'BUS_TWICE'
    | 'UUID_TWICE'
    | 'NOT_IN_KERNEL'
    | 'NOT_ON_PCI'
    | 'UUID_DIFFERS'
    | 'NAME_DIFFERS'
    | 'NVML_BUS_DIFFERS'
    | 'DEVICE_ID_DIFFERS'
    | 'SUBSYSTEM_DIFFERS'
    | 'ODD_BUS'
  readonly bus: string
  readonly got: string
  readonly expected: string
}

export interface GpuCrossCheck {
  /** Claims all of them: whoever owns the box owns these files too. Agreement catches accidents and lazy forgeries. */
  readonly sources: readonly ('driver' | 'kernel' | 'pci')[]
  /** Cards that the driver lets us use. */
  readonly usable: number
  /** Cards the machine has beyond those: other tenants', or switched off for us. */
  readonly hidden: number
  readonly disagreements: readonly GpuDisagreement[]
}

/** "00000000:17:00.0" and "0000:17:00.0" are the same place; null for what is not a place on a bus. */
export function normalBus(text: string): string | null {
  const match = /^(?:0000)?([0-9a-f]{4}):([0-9a-f]{2}):([0-9a-f]{2})\.([0-7])$/i.exec(text)
  if (match === null) return null
  return `${match[1]}:${match[2]}:${match[3]}.${match[4]}`.toLowerCase()
}

/** A source that is null could not be read, and so contradicts nothing. */
export function crossCheckGpus(
  driver: readonly DriverGpu[],
  kernel: readonly KernelGpu[] | null,
  pci: readonly PciGpu[] | null,
): GpuCrossCheck {
  const kernelByBus = byBus(kernel ?? [])
  const pciByBus = byBus(pci ?? [])
  const disagreements = [
    ...odd(driver),
    ...twice(driver),
    ...driver.flatMap(againstNvml),
    ...driver.flatMap((gpu) => (kernel === null ? [] : againstKernel(gpu, kernelByBus))),
    ...driver.flatMap((gpu) => (pci === null ? [] : againstPci(gpu, pciByBus))),
    ...(pci === null ? [] : onNoBus(kernelByBus, pciByBus, byBus(driver))),
  ]
  const known = new Set([...kernelByBus.keys(), ...pciByBus.keys()])
  const usable = byBus(driver)
  return {
    sources: ['driver', ...(kernel === null ? [] : ['kernel' as const]), ...(pci === null ? [] : ['pci' as const])],
    usable: usable.size,
    hidden: [...known].filter((bus) => !usable.has(bus)).length,
    disagreements,
  }
}

function byBus<T extends { readonly bus: string }>(cards: readonly T[]): ReadonlyMap<string, T> {
  const found = new Map<string, T>()
  for (const card of cards) {
    const bus = normalBus(card.bus)
    if (bus !== null) found.set(bus, card)
  }
  return found
}

const says = (
  code: GpuDisagreement['code'],
  bus: string,
  got: string,
  expected: string,
): readonly GpuDisagreement[] => [{ code, bus, got, expected }]

const odd = (driver: readonly DriverGpu[]): readonly GpuDisagreement[] =>
  driver.flatMap(({ bus }) => (normalBus(bus) === null ? says('ODD_BUS', bus, bus, 'domain:bus:device.function') : []))

/** Attack 35 at its laziest: one card in the list more than once. */
function twice(driver: readonly DriverGpu[]): readonly GpuDisagreement[] {
  const buses = new Set<string>()
  const uuids = new Set<string>()
  return driver.flatMap((gpu) => {
    const bus = normalBus(gpu.bus) ?? gpu.bus
    const again = [
      ...(buses.has(bus) ? says('BUS_TWICE', bus, bus, 'each card once') : []),
      ...(uuids.has(gpu.uuid) ? says('UUID_TWICE', bus, gpu.uuid, 'each card once') : []),
    ]
    buses.add(bus)
    uuids.add(gpu.uuid)
    return again
  })
}

function againstKernel(gpu: DriverGpu, kernel: ReadonlyMap<string, KernelGpu>): readonly GpuDisagreement[] {
  const bus = normalBus(gpu.bus)
  if (bus === null) return []
  const other = kernel.get(bus)
  if (other === undefined) return says('NOT_IN_KERNEL', bus, 'missing', gpu.name)
  // Before its first use a card has no UUID in the kernel's file, only question marks.
  const knowsUuid = !other.uuid.includes('?') && other.uuid !== ''
  return [
    ...(knowsUuid && other.uuid !== gpu.uuid ? says('UUID_DIFFERS', bus, gpu.uuid, other.uuid) : []),
    ...(plainName(other.name) === plainName(gpu.name) ? [] : says('NAME_DIFFERS', bus, gpu.name, other.name)),
  ]
}

function againstPci(gpu: DriverGpu, pci: ReadonlyMap<string, PciGpu>): readonly GpuDisagreement[] {
  const bus = normalBus(gpu.bus)
  if (bus === null) return []
  const other = pci.get(bus)
  if (other === undefined) return says('NOT_ON_PCI', bus, 'missing', gpu.name)
  return [
    ...differingId('DEVICE_ID_DIFFERS', bus, gpu.deviceId, other.deviceId),
    ...differingId('SUBSYSTEM_DIFFERS', bus, gpu.subsystemId, other.subsystemId),
  ]
}

const differingId = (code: GpuDisagreement['code'], bus: string, got: number | null, expected: number | null) =>
  got === null || expected === null || got === expected ? [] : says(code, bus, hexId(got), hexId(expected))

/** CUDA and NVML are two libraries of one driver: what one finds at a place the other must find there too. */
function againstNvml({ bus, nvmlBus }: DriverGpu): readonly GpuDisagreement[] {
  const place = normalBus(bus)
  if (place === null || nvmlBus === null || normalBus(nvmlBus) === place) return []
  return says('NVML_BUS_DIFFERS', place, nvmlBus, place)
}

/** A card that the kernel lists, but that we may not use, must still be on the bus. */
const onNoBus = (
  kernel: ReadonlyMap<string, KernelGpu>,
  pci: ReadonlyMap<string, PciGpu>,
  driver: ReadonlyMap<string, DriverGpu>,
): readonly GpuDisagreement[] =>
  [...kernel].flatMap(([bus, { name }]) =>
    pci.has(bus) || driver.has(bus) ? [] : says('NOT_ON_PCI', bus, 'missing', name),
  )

const plainName = (name: string): string =>
  name
    .toLowerCase()
    .replace(/^nvidia\s+/, '')
    .replace(/\s+/g, ' ')
    .trim()
const hexId = (id: number): string => `0x${id.toString(16).padStart(8, '0')}`
