import { invoke } from './nativeCalls.ts'
import type { Nvml, NvmlCall } from './nvml.ts'

type Value = string | number | boolean

export type Telemetry = NonNullable<ReturnType<typeof openTelemetry>>

const [SM_CLOCK, MEMORY_CLOCK] = [1, 2]
const COMPUTE_MODES = ['shared', 'exclusiveThread', 'prohibited', 'exclusive'] as const
/** nvmlClocksThrottleReason bits that people know by name. */
const REASONS: readonly (readonly [bit: number, name: string])[] = [
  [0x1, 'idle'],
  [0x2, 'applicationClocks'],
  [0x4, 'powerLimit'],
  [0x8, 'hardwareSlowdown'],
  [0x10, 'syncBoost'],
  [0x20, 'thermalSoftware'],
  [0x40, 'thermalHardware'],
  [0x80, 'powerBrake'],
  [0x100, 'displayClocks'],
]

export const throttleNames = (bits: number): string =>
  REASONS.filter(([bit]) => (bits & bit) !== 0)
    .map(([, name]) => name)
    .join(' ')

const watts = (milliwatts: number): number => milliwatts / 1000

/** Values of 32 bits: the call that tells one, what it asks beside the card, and how the number is put. */
const READINGS: Readonly<Record<string, readonly [NvmlCall, asked?: number[], put?: (told: number) => Value]>> = {
  smClockMhz: ['nvmlDeviceGetClockInfo', [SM_CLOCK]],
  memoryClockMhz: ['nvmlDeviceGetClockInfo', [MEMORY_CLOCK]],
  maxSmClockMhz: ['nvmlDeviceGetMaxClockInfo', [SM_CLOCK]],
  temperatureC: ['nvmlDeviceGetTemperature', [0]],
  powerWatts: ['nvmlDeviceGetPowerUsage', [], watts],
  powerLimitWatts: ['nvmlDeviceGetEnforcedPowerLimit', [], watts],
  throttle: ['nvmlDeviceGetCurrentClocksThrottleReasons', [], throttleNames],
  busyPercent: ['nvmlDeviceGetUtilizationRates'],
  pcieWidth: ['nvmlDeviceGetCurrPcieLinkWidth'],
  pcieGeneration: ['nvmlDeviceGetCurrPcieLinkGeneration'],
  computeMode: ['nvmlDeviceGetComputeMode', [], (mode) => COMPUTE_MODES[mode] ?? 'unknown'],
}

/** NVML's view of the card at this PCI address, or null where it does not know it. Claims: shown, never used to accept. */
export function openTelemetry(nvml: Nvml, pci: string) {
  const handle = new BigUint64Array(1)
  if (nvml.nvmlDeviceGetHandleByPciBusId_v2(pci, handle) !== 0) return null
  const card = handle[0]!
  const watch = watchXids(nvml, card)
  return {
    sample: (): Readonly<Record<string, Value>> => {
      const xids = watch?.seen() ?? []
      return { ...sampleCard(nvml, card), ...(xids.length > 0 ? { xid: xids.join(' ') } : {}) }
    },
    /** Driver errors of the card since it was opened; waits at most so long for one more. */
    xids: (waitMs: number): readonly number[] => watch?.seen(waitMs) ?? [],
    close: () => watch?.close(),
  }
}

function sampleCard(nvml: Nvml, card: bigint): Readonly<Record<string, Value>> {
  const sample: Record<string, Value> = {}
  const out = new Uint32Array(2)
  for (const [name, [call, asked = [], put]] of Object.entries(READINGS)) {
    if (invoke(nvml, call, card, ...asked, out) === 0) sample[name] = put ? put(out[0]!) : out[0]!
  }
  const eccUncorrected = ecc(nvml, card)
  if (eccUncorrected !== null) sample.eccUncorrected = eccUncorrected
  if (nvml.nvmlDeviceGetMigMode(card, out, new Uint32Array(1)) === 0) sample.mig = out[0] === 1
  const running = processes(nvml, card)
  if (running !== null) sample.processes = running
  return sample
}

/** Uncorrected errors since the driver was loaded. */
function ecc(nvml: Nvml, card: bigint): number | null {
  const count = new BigUint64Array(1)
  const [uncorrected, sinceLoad] = [1, 0]
  return nvml.nvmlDeviceGetTotalEccErrors(card, uncorrected, sinceLoad, count) === 0 ? Number(count[0]!) : null
}

/** How many processes compute on the card, ours included; a count of 0 asks NVML for the number alone. */
function processes(nvml: Nvml, card: bigint): number | null {
  const count = new Uint32Array(1)
  const status = nvml.nvmlDeviceGetComputeRunningProcesses_v3(card, count, null)
  const insufficientSize = 7
  return status === 0 || status === insufficientSize ? count[0]! : null
}

/** nvmlEventTypeXidCriticalError */
const XID = 8n
/** Of nvmlEventData_t: the card, the type, the Xid, two instance numbers. */
const EVENT_BYTES = 32
const TYPE_AT = 8
const DATA_AT = 16
const MOST_KINDS = 8
/** A card that floods us with events is heard out later. */
const MOST_AT_ONCE = 64

/** Driver errors of one card from now on; null where the card or the account may not watch: nothing is said then. */
function watchXids(nvml: Nvml, card: bigint) {
  const set = new BigUint64Array(1)
  if (nvml.nvmlEventSetCreate(set) !== 0) return null
  const free = () => void nvml.nvmlEventSetFree(set[0]!)
  if (nvml.nvmlDeviceRegisterEvents(card, XID, set[0]!) !== 0) {
    free()
    return null
  }
  const kinds = new Set<number>()
  const bytes = new Uint8Array(EVENT_BYTES)
  const event = new DataView(bytes.buffer)
  const next = (waitMs: number) => nvml.nvmlEventSetWait_v2(set[0]!, bytes, waitMs) === 0
  return {
    /** Every number seen so far, each once, in order; waits at most so long for one more. */
    seen: (waitMs = 0): readonly number[] => {
      for (let heard = 0; heard < MOST_AT_ONCE && next(heard === 0 ? waitMs : 0); heard++)
        if (event.getBigUint64(TYPE_AT, true) === XID && kinds.size < MOST_KINDS)
          kinds.add(Number(event.getBigUint64(DATA_AT, true)))
      return [...kinds]
    },
    close: free,
  }
}
