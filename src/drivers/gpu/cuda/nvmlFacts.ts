import { printable } from '../../../core/bytes/printable.ts'
import type { Nvml } from './nvml.ts'

/** nvmlPciInfo_t: old bus id (16), domain, bus, device, ids of device and board (4 each), bus id (32). */
const BYTES = 68
const DEVICE_ID = 28
const SUBSYSTEM_ID = 32
const BUS_ID = 36

const LONGEST_VERSION = 80

/** What NVML says of a card beside CUDA: claims, to be compared with the kernel's and the bus's own, and with yesterday's. */
export function nvmlFacts(nvml: Nvml, pci: string): Facts {
  const handle = new BigUint64Array(1)
  if (nvml.nvmlDeviceGetHandleByPciBusId_v2(pci, handle) !== 0) return driverVersion(nvml)
  const card = handle[0]!
  return { ...driverVersion(nvml), ...pciIdentity(nvml, card), ...stateOf(nvml, card) }
}

type Facts = Readonly<Record<string, string | number | boolean>>

/** nvmlGpuVirtualizationMode_t. */
const VIRTUALIZATION = ['none', 'passed through', 'vGPU', 'host of vGPUs', 'host of vGPUs']

/** How the card is set up and worn: what only a reset or a repair changes. */
function stateOf(nvml: Nvml, card: bigint): Facts {
  const [first, second, pending, failed] = Array.from({ length: 4 }, () => new Uint32Array(1)) as [
    Uint32Array,
    Uint32Array,
    Uint32Array,
    Uint32Array,
  ]
  const told = (status: number, facts: () => Facts): Facts => (status === 0 ? facts() : {})
  return {
    ...told(nvml.nvmlDeviceGetMigMode(card, first, second), () => ({ mig: first[0] === 1 })),
    ...told(nvml.nvmlDeviceGetEccMode(card, first, second), () => ({ eccMode: first[0] === 1 ? 'on' : 'off' })),
    ...told(nvml.nvmlDeviceGetMaxPcieLinkWidth(card, first), () => ({ pcieMaxWidth: first[0]! })),
    ...told(nvml.nvmlDeviceGetMaxPcieLinkGeneration(card, first), () => ({ pcieMaxGeneration: first[0]! })),
    ...told(nvml.nvmlDeviceGetVirtualizationMode(card, first), () => ({
      virtualization: VIRTUALIZATION[first[0]!] ?? 'unknown',
    })),
    ...told(nvml.nvmlDeviceGetRemappedRows(card, first, second, pending, failed), () => ({
      remappedRows: first[0]! + second[0]!,
      remapFailed: failed[0] !== 0,
    })),
  }
}

function driverVersion(nvml: Nvml): Facts {
  const text = new Uint8Array(LONGEST_VERSION)
  if (nvml.nvmlSystemGetDriverVersion(text, text.length) !== 0) return {}
  return { driver: textOf(text) }
}

/** Where the card sits, and which chip and board it is. */
function pciIdentity(nvml: Nvml, card: bigint): Facts {
  const info = new Uint8Array(BYTES)
  if (nvml.nvmlDeviceGetPciInfo_v3(card, info) !== 0) return {}
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
