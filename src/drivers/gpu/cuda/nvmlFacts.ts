import { printable } from '../../../core/bytes/printable.ts'
import type { Nvml } from './nvml.ts'

/** nvmlPciInfo_t: old bus id (16), domain, bus, device, ids of device and board (4 each), bus id (32). */
const BYTES = 68
const DEVICE_ID = 28
const SUBSYSTEM_ID = 32
const BUS_ID = 36

const LONGEST_VERSION = 80

/** What NVML says of a card beside CUDA: claims, to be compared with the kernel's and the bus's own, and with yesterday's. */
export const nvmlFacts = (nvml: Nvml, pci: string): Readonly<Record<string, string>> => ({
  ...driverVersion(nvml),
  ...pciIdentity(nvml, pci),
})

function driverVersion(nvml: Nvml): Readonly<Record<string, string>> {
  const text = new Uint8Array(LONGEST_VERSION)
  if (nvml.nvmlSystemGetDriverVersion(text, text.length) !== 0) return {}
  return { driver: textOf(text) }
}

/** Where the card sits, and which chip and board it is. */
function pciIdentity(nvml: Nvml, pci: string): Readonly<Record<string, string>> {
  const handle = new BigUint64Array(1)
  const info = new Uint8Array(BYTES)
  if (nvml.nvmlDeviceGetHandleByPciBusId_v2(pci, handle) !== 0) return {}
  if (nvml.nvmlDeviceGetPciInfo_v3(handle[0]!, info) !== 0) return {}
  const view = new DataView(info.buffer)
  return {
    nvmlPci: textOf(info.subarray(BUS_ID)),
    pciDeviceId: hex32(view.getUint32(DEVICE_ID, true)),
    pciSubsystemId: hex32(view.getUint32(SUBSYSTEM_ID, true)),
  }
}

const textOf = (bytes: Uint8Array): string => printable(new TextDecoder().decode(bytes).split('\0', 1)[0]!, 80)

/** Device in the upper half, vendor in the lower: 0x233510de. */
const hex32 = (value: number): string => `0x${value.toString(16).padStart(8, '0')}`
